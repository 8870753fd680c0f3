#include "discovery/judge_script.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace hvd {
namespace {

Attempt Judge(const ScriptEnd& end, int slots_per_host = 1) {
  return JudgeScript(
      {.command = "./hosts.sh", .slots_per_host = slots_per_host}, end);
}

DiscoveryFailure FailureOf(const ScriptEnd& end) {
  const Attempt attempt = Judge(end);
  REQUIRE(std::holds_alternative<DiscoveryFailure>(attempt));
  return std::get<DiscoveryFailure>(attempt);
}

std::string MessageOf(const ScriptEnd& end) {
  return FailureOf(end).error.message();
}

}  // namespace

TEST_CASE("JudgeScript reads every syntax of a hostfile", "[discovery][unit]") {
  CHECK(std::get<HostList>(Judge(
            {.output = "# mine\n\nb:2\na slots=3  # fast\r\nc\n[fd77::1]:4"},
            5)) == HostList{{"b", 2}, {"a", 3}, {"c", 5}, {"fd77::1", 4}});
}

TEST_CASE("JudgeScript takes no output for no hosts", "[discovery][unit]") {
  CHECK(std::get<HostList>(Judge({})).empty());
  CHECK(std::get<HostList>(Judge({.errors = "chatter\n"})).empty());
}

TEST_CASE("JudgeScript names script, line and text of a bad line",
          "[discovery][unit]") {
  const DiscoveryFailure failure = FailureOf({.output = "a\nb\nc slots=x\n"});
  CHECK(failure.kind == FailureKind::kBadLine);
  CHECK(failure.error.message() ==
        "host discovery script ./hosts.sh:3: slots must be 1 or more, got "
        "\"x\": \"c slots=x\"");
}

TEST_CASE("JudgeScript tells exit status and the last lines of stderr",
          "[discovery][unit]") {
  const DiscoveryFailure failure =
      FailureOf({.status = {3, 0}, .output = "a\n", .errors = "no license\n"});
  CHECK(failure.kind == FailureKind::kExitStatus);
  CHECK(failure.error.message() ==
        "host discovery script ./hosts.sh: exit status 3 (last line: \"no "
        "license\")");
  CHECK(failure.error.hint().empty());
  CHECK(MessageOf({.status = {1, 0}}) ==
        "host discovery script ./hosts.sh: exit status 1");
  CHECK(MessageOf({.status = {1, 0}, .errors = "1\n2\n\n3\r\n \n4"}) ==
        "host discovery script ./hosts.sh: exit status 1 (last lines: \"2\", "
        "\"3\", \"4\")");
}

TEST_CASE("JudgeScript tells the signal by name", "[discovery][unit]") {
  const DiscoveryFailure failure = FailureOf({.status = {0, SIGSEGV}});
  CHECK(failure.kind == FailureKind::kSignal);
  CHECK(failure.error.message() ==
        "host discovery script ./hosts.sh: killed by SIGSEGV");
}

TEST_CASE("JudgeScript explains what a shell means by its exit status",
          "[discovery][unit]") {
  const auto hint = [](int code) {
    return FailureOf({.status = {code, 0}}).error.hint();
  };
  CHECK(hint(127).find("not found") != std::string::npos);
  CHECK(hint(126).find("chmod +x") != std::string::npos);
  CHECK(hint(137) == "137 is what a shell makes of SIGKILL");
  CHECK(hint(128).empty());
  CHECK(hint(255).empty());
  CHECK(FailureOf({.status = {127, 0}}).error.code() == ErrorCode::kNotFound);
}

TEST_CASE("JudgeScript tells the limit that a script has broken",
          "[discovery][unit]") {
  const DiscoveryFailure slow =
      FailureOf({.how = ScriptEnding::kTimedOut, .errors = "asking\n"});
  CHECK(slow.kind == FailureKind::kTimeout);
  CHECK(slow.error.code() == ErrorCode::kTimeout);
  CHECK(slow.error.message() ==
        "host discovery script ./hosts.sh: killed, not done after 30 s (last "
        "line: \"asking\")");
  const DiscoveryFailure loud =
      FailureOf({.how = ScriptEnding::kTooMuchOutput, .output = "a\n"});
  CHECK(loud.kind == FailureKind::kTooMuchOutput);
  CHECK(loud.error.message() ==
        "host discovery script ./hosts.sh: killed, it printed more than 1 MiB");
}

TEST_CASE("JudgeScript makes one line of a command of many",
          "[discovery][unit]") {
  const Attempt attempt = JudgeScript(
      {.command = "a\nb " + std::string(500, 'c')}, {.status = {1, 0}});
  const std::string& message =
      std::get<DiscoveryFailure>(attempt).error.message();
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 300);
}

}  // namespace hvd
