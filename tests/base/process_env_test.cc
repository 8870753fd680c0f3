#include <catch2/catch.hpp>

#include "base/process.h"

namespace hvd {

TEST_CASE("EnvMerge replaces in place and appends what is new", "[base]") {
  const EnvList merged =
      EnvMerge({{"A", "1"}, {"B", "2"}}, {{"C", "3"}, {"A", "9"}});
  CHECK(merged == EnvList{{"A", "9"}, {"B", "2"}, {"C", "3"}});
}

TEST_CASE("EnvFind tells an empty value from none", "[base]") {
  const EnvList env = {{"A", ""}};
  CHECK(EnvFind(env, "A") == "");
  CHECK_FALSE(EnvFind(env, "B"));
}

TEST_CASE("ExitStatus speaks the shell's language", "[base]") {
  CHECK(ExitStatus{3, 0}.ToShell() == 3);
  CHECK(ExitStatus{0, 9}.ToShell() == 137);
  CHECK(ExitStatus{0, 0}.success());
  CHECK_FALSE(ExitStatus{0, 15}.success());
}

TEST_CASE("SignalName names signals as kill -l does", "[base]") {
  CHECK(SignalName(9) == "SIGKILL");
  CHECK(SignalName(10) == "SIGUSR1");
  CHECK(SignalName(99) == "signal 99");
}

}  // namespace hvd
