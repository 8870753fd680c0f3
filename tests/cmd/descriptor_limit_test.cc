#include "cmd/descriptor_limit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

namespace hvd {
namespace {

// In a child, because a lowered hard limit can't be raised again.
bool HoldsInChild(rlimit limit, const std::function<bool()>& holds) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::_exit(::setrlimit(RLIMIT_NOFILE, &limit) == 0 && holds() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return status == 0;
}

}  // namespace

TEST_CASE("RaiseDescriptorLimit raises the soft limit and tells the old one",
          "[cmd]") {
  CHECK(HoldsInChild({100, 500}, [] {
    const Result<rlimit> before = RaiseDescriptorLimit(400);
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return before.ok() && before.value().rlim_cur == 100 && now.rlim_cur == 400;
  }));
}

TEST_CASE("RaiseDescriptorLimit refuses more than the hard limit", "[cmd]") {
  CHECK(HoldsInChild({100, 500}, [] {
    const Result<rlimit> before = RaiseDescriptorLimit(501);
    return !before.ok() && before.error().message() ==
                               "this job needs about 501 open files, the limit "
                               "is 500";
  }));
}

TEST_CASE("DescriptorsFor grows with workers and their files", "[cmd]") {
  CHECK(DescriptorsFor(2, false) - DescriptorsFor(1, false) == 6);
  CHECK(DescriptorsFor(2, true) - DescriptorsFor(1, true) == 8);
}

}  // namespace hvd
