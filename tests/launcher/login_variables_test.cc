#include "launcher/login_variables.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("an environment goes to another host without its login", "[agent]") {
  const EnvList env = {{"HOME", "/h"},           {"PATH", "/bin"},
                       {"SSH_AUTH_SOCK", "/s"},  {"XDG_RUNTIME_DIR", "/r"},
                       {"XDG_CACHE_HOME", "/c"}, {"USER", "u"}};
  CHECK(WithoutLoginVariables(env, {"USER"}) ==
        EnvList{{"PATH", "/bin"}, {"XDG_CACHE_HOME", "/c"}, {"USER", "u"}});
}

TEST_CASE("what is missing of a login is that of the host", "[agent]") {
  const EnvList own = {{"HOME", "/there"}, {"USER", "them"}, {"PATH", "/no"}};
  CHECK(WithLoginVariables({{"USER", "asked"}, {"PATH", "/bin"}}, own) ==
        EnvList{{"USER", "asked"}, {"PATH", "/bin"}, {"HOME", "/there"}});
}

}  // namespace hvd
