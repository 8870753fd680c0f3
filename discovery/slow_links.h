// Slow links: which links of a ring are far slower than the others, and which
// machine is to blame for that.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace hvd {

struct SlowLinks {
  // What the others have, in bits a second; 0: there is nothing to compare.
  double usual = 0;
  std::vector<std::size_t> links;     // below half of that
  std::vector<std::size_t> machines;  // both of whose links are
  bool operator==(const SlowLinks&) const = default;
};

// `rates`: bits a second of link i, from machine i to the next and from the
// last to the first; nullopt: not known. One slow machine makes two links slow
// and must not become what others are compared with: the usual rate is the
// median, but in a small ring at least the third slowest.
SlowLinks FindSlowLinks(const std::vector<std::optional<double>>& rates);

}  // namespace hvd
