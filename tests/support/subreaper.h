// Subreaper: in its scope, what is orphaned below this process becomes its
// child, as it would be hvdrun's.
#pragma once

#include <sys/prctl.h>

#include <catch2/catch.hpp>

namespace hvd::testing {

class Subreaper {
 public:
  Subreaper() { REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); }
  ~Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
};

}  // namespace hvd::testing
