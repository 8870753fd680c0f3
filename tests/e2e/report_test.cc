// --report FILE: what happened, as JSON, for failure and for success.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using nlohmann::json;

struct Reported {
  ProgramResult result;
  json report;
};

Reported RunWithReport(std::vector<std::string> words) {
  TemporaryDirectory directory;
  const std::string file = directory / "report.json";
  words.insert(words.begin(), {"--report", file});
  Reported reported{Hvdrun(std::move(words)), {}};
  reported.report = json::parse(ReadFile(file), nullptr, false);
  return reported;
}

}  // namespace

TEST_CASE("hvdrun --report tells of a success with the times of every phase",
          "[e2e]") {
  const auto [result, report] =
      RunWithReport({"-np", "2", Bin("ring"), "--steps", "2", "--rate", "0"});
  INFO(result.err << report.dump(2));
  REQUIRE(result.status.success());
  REQUIRE(report.is_object());
  CHECK(report["exit_code"] == 0);
  CHECK(report["first_failure"].is_null());
  CHECK(report["victims"] == json::array());
  CHECK(report["succeeded"] == json({0, 1}));
  CHECK(report["command"] ==
        json({Bin("ring"), "--steps", "2", "--rate", "0"}));
  const json& phases = report["phases_ms"];
  CHECK(phases["slots_found"] <= phases["all_started"]);
  CHECK(phases["all_started"] <= phases["all_joined"]);
  CHECK(phases["all_joined"] <= phases["ended"]);
  CHECK(phases["stopping"].is_null());
  REQUIRE(report["workers"].size() == 2);
  for (const json& worker : report["workers"]) {
    CHECK(worker["host"] == "localhost");
    CHECK(worker["pid"] > 1);
    CHECK(worker["exit"] == json({{"code", 0}}));
    CHECK(worker["told_to_stop"] == false);
  }
}

TEST_CASE("hvdrun --report tells the first failure from its victims", "[e2e]") {
  const auto [result, report] = RunWithReport(
      {"-np", "3", "sh", "-c",
       "[ $HVD_RANK = 1 ] || exec sleep 60; printf 'caf\\351 REAL\\n' >&2; "
       "kill -9 $$"});
  INFO(
      result.err << report.dump(2, ' ', false, json::error_handler_t::replace));
  REQUIRE(result.status == ExitStatus{.code = 137});
  REQUIRE(report.is_object());
  CHECK(report["exit_code"] == 137);
  CHECK(report["victims"] == json({0, 2}));
  CHECK(report["succeeded"] == json::array());
  const json& first = report["first_failure"];
  CHECK(first["rank"] == 1);
  CHECK(first["host"] == "localhost");
  CHECK(first["exit"] == json({{"signal", 9}, {"signal_name", "SIGKILL"}}));
  CHECK(Contains(first["stderr"].get<std::string>(), " REAL"));
  CHECK(report["phases_ms"]["stopping"].is_number());
  CHECK(report["workers"][0]["told_to_stop"] == true);
  CHECK(report["workers"][0]["exit"]["signal_name"] == "SIGTERM");
}

TEST_CASE(
    "hvdrun --report leaves no file of an earlier job when nothing was started",
    "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory.Write("report.json", "{}");
  const ProgramResult result = Hvdrun({"--report", file, "--network-interfaces",
                                       "no-such-nic", "-np", "1", "true"});
  INFO(result.err);
  CHECK(result.status == ExitStatus{.code = 125});
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("hvdrun --report tells of a job that a signal ended", "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory / "report.json";
  Program program(HvdrunCommand(
      {"--report", file, "-np", "2", "sh", "-c", "echo up; exec sleep 60"}));
  REQUIRE(program.WaitForOutput("[0]<stdout>:up"));
  REQUIRE(program.WaitForOutput("[1]<stdout>:up"));
  program.Signal(SIGTERM);
  CHECK(program.Wait().status == ExitStatus{.code = 143});
  const json report = json::parse(ReadFile(file), nullptr, false);
  REQUIRE(report.is_object());
  CHECK(report["exit_code"] == 143);
  CHECK(report["first_failure"].is_null());
  CHECK(report["victims"] == json({0, 1}));
}

TEST_CASE(
    "hvdrun --report names the log of the first failure when there is one",
    "[e2e]") {
  TemporaryDirectory directory;
  const std::string logs = directory / "logs";
  const auto [result, report] = RunWithReport(
      {"-np", "2", "--output-filename", logs, "sh", "-c",
       "[ $HVD_RANK = 1 ] || exec sleep 60; echo REAL >&2; exit 9"});
  INFO(result.err << report.dump(2));
  REQUIRE(report.is_object());
  const std::string file = report["first_failure"].value("stderr_file", "");
  CHECK(file == logs + "/rank.1/stderr");
  CHECK(Contains(ReadFile(file), "REAL"));
  CHECK(Contains(result.err, file));
}

TEST_CASE("hvdrun tells of each reset on stderr and in --report", "[e2e]") {
  TemporaryDirectory directory;
  const std::string file = directory / "report.json";
  Program job(HvdrunCommand(
      {"--report", file, "-np", "3", "--min-np", "2", "sh", "-c",
       "echo pid=$$; exec " + Bin("ring") + " --rate 20 --steps 40"}));
  REQUIRE(job.WaitForOutput("rank=2 size=3 step=3 "));
  const auto killed = PidOfRank(job.out(), 1);
  REQUIRE(killed);
  REQUIRE(::kill(*killed, SIGKILL) == 0);
  const ProgramResult result = job.Wait();
  const json report = json::parse(ReadFile(file), nullptr, false);
  INFO(result.err << report.dump(2));
  REQUIRE(result.status.success());
  const json& resets = report["resets"];
  REQUIRE(resets.size() == 2);  // the loss, and the worker started for it
  for (const json& reset : resets) {
    CHECK(reset["seen_ms"] <= reset["published_ms"]);
    CHECK(reset["published_ms"] <= reset["formed_ms"]);  // all asked before
    CHECK(reset["formed_ms"] < report["phases_ms"]["ended"]);
  }
  CHECK(resets[0]["epoch"] == 2);
  CHECK(resets[0]["size_after"] == 2);
  CHECK(resets[0]["why"] == "rank 1 on localhost was killed by SIGKILL");
  CHECK(resets[1]["size_after"] == 3);
  CHECK(Contains(result.err, "hvdrun: 2 resets:\nhvdrun:   epoch 2 at "));
  CHECK(Contains(result.err, ": 3 -> 2 workers, decided in "));
  CHECK(Contains(result.err, ": rank 1 on localhost was killed by SIGKILL\n"));
}

TEST_CASE("hvdrun --report is written for every other way a job ends",
          "[e2e]") {
  struct Case {
    std::vector<std::string> words;
    int code;
  };
  const std::vector<Case> cases = {
      {{"-np", "2", "--timeout", "0.2", "sleep", "60"}, 124},
      {{"-np", "2", "no-such-program-5"}, 127},
      {{"-np", "2", "/etc/passwd"}, 126}};
  for (const Case& one : cases) {
    const auto [result, report] = RunWithReport(one.words);
    INFO(result.err << report.dump(2));
    CHECK(result.status == ExitStatus{.code = one.code});
    REQUIRE(report.is_object());
    CHECK(report["exit_code"] == one.code);
    CHECK(report["workers"].size() == 2);
  }
}

}  // namespace hvd::testing
