#include <catch2/catch.hpp>

#include "cmd/settings.h"

namespace hvd {
namespace {

using Words = std::vector<std::string>;

Result<Settings> Parse(Words words, const EnvList& env = {}) {
  return ParseSettings(words, env, [](const std::string&) {
    return Result<std::string>("a slots=2\nb\n");
  });
}

Error ErrorOf(const Words& words) {
  const Result<Settings> settings = Parse(words);
  REQUIRE_FALSE(settings.ok());
  CHECK(settings.error().code() == ErrorCode::kInvalidArgument);
  return settings.error();
}

}  // namespace

TEST_CASE("hvdrun --check-hosts takes hosts from wherever a job may have them",
          "[cmd][unit]") {
  const HostList two = {{"a", 2}, {"b", 1}};
  const auto listed = Parse({"--check-hosts", "-H", "a:2,b"});
  REQUIRE(listed.ok());
  CHECK(listed.value().mode == RunMode::kCheckHosts);
  CHECK(listed.value().hosts == two);
  CHECK_FALSE(listed.value().elastic);
  CHECK(Parse({"--check-hosts", "--hostfile", "f"}).value().hosts == two);
  CHECK(Parse({"--check-hosts", "--host-discovery-script", "./hosts"}).ok());
  CHECK(Parse({"--check-hosts", "--watch-hosts", "f"}).ok());
  const auto variable = Parse({"-H", "a"}, {{"HVDRUN_CHECK_HOSTS", "1"}});
  CHECK(variable.value().mode == RunMode::kCheckHosts);
}

TEST_CASE("hvdrun --check-hosts without a host says how to name one",
          "[cmd][unit]") {
  const Error error = ErrorOf({"--check-hosts"});
  CHECK(error.message() == "--check-hosts: which hosts?");
  CHECK(error.hint().find("-H a:4,b:4") != std::string::npos);
  CHECK(ErrorOf({"--check-hosts", "-np", "2"}).message() == error.message());
}

TEST_CASE("hvdrun --check-hosts takes no command", "[cmd][unit]") {
  CHECK(ErrorOf({"--check-hosts", "-H", "a", "./train", "-x"}).message() ==
        "--check-hosts starts no worker, so it takes no command, got "
        "\"./train\"");
  // A host that lost its comma would go unchecked.
  CHECK(ErrorOf({"--check-hosts", "-H", "a:2", "b:2"}).message() ==
        "the command \"b:2\" looks like a host");
}

TEST_CASE("hvdrun --check-hosts refuses what a job would refuse of its hosts",
          "[cmd][unit]") {
  CHECK(ErrorOf({"--check-hosts", "-np", "4", "-H", "a"}).message() ==
        "-np asks for 4 workers, but there is 1 slot: a:1");
  CHECK(ErrorOf({"--check-hosts", "-H", "a", "--install-agent", "--agent-path",
                 "x"})
            .message() ==
        "--install-agent and --agent-path exclude each other");
  CHECK(ErrorOf({"--check-hosts", "-H", "a", "--watch-hosts", "f"}).message() ==
        "-H and --watch-hosts exclude each other");
}

}  // namespace hvd
