#include "cmd/report.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cmd/golden.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

const std::chrono::system_clock::time_point kStarted{1'796'066'897'123'456us};

WorkerEnd Worker(int rank, const std::string& host, ExitStatus status) {
  WorkerEnd worker;
  worker.rank = rank;
  worker.worker = {host, rank};
  worker.launch = LaunchId{rank + 1};
  worker.pid = 4710 + rank;
  worker.status = status;
  worker.started_at = 10ms;
  worker.ended_at = 1010ms;
  return worker;
}

WorkerEnd Victim(int rank, const std::string& host, ExitStatus status) {
  WorkerEnd worker = Worker(rank, host, status);
  worker.told_to_stop = true;
  worker.ended_at = 1300ms;
  return worker;
}

// accelerate PR#4139: rank 2 fails, 0 and 1 follow, 3 has to be killed.
JobReport FirstFailure() {
  JobReport report;
  report.command = {"./train", "--note", "a b"};
  report.version = "1.2.3";
  report.started = kStarted;
  Outcome& outcome = report.outcome;
  outcome.verdict = Verdict::kWorkerFailed;
  outcome.reason = "rank 2 on b exited with code 7";
  outcome.epoch = Epoch{1};
  outcome.workers = {Victim(0, "a", {1, 0}), Victim(1, "a", {1, 0}),
                     Worker(2, "b", {7, 0}), Victim(3, "b", {0, SIGKILL})};
  outcome.first_failed = outcome.workers[2];
  outcome.timeline = {1ms, 12ms, 40ms, 1010ms, 11020ms};
  report.first_failure_stderr = "loading\nREAL\n";
  report.first_failure_log = "out dir/rank.2/stderr";
  return report;
}

JobReport Success() {
  JobReport report;
  report.command = {"true"};
  report.version = "1.2.3";
  report.started = kStarted;
  report.outcome.verdict = Verdict::kSucceeded;
  report.outcome.epoch = Epoch{1};
  report.outcome.workers = {Worker(0, "localhost", {}),
                            Worker(1, "localhost", {})};
  report.outcome.timeline = {1ms, 12ms, std::nullopt, std::nullopt, 1010ms};
  return report;
}

}  // namespace

TEST_CASE("the report names the first failure once and the victims apart",
          "[cmd][unit]") {
  CHECK(ReportLines(FirstFailure()) ==
        Lines{"error: rank 2 on b (pid 4712) exited with code 7 after 1 s",
              "its last lines on stderr:", "  | loading", "  | REAL",
              "all of its stderr: 'out dir/rank.2/stderr'",
              "the others: ranks 0-1 exited with code 1 when told to stop; "
              "rank 3 killed by hvdrun (SIGKILL)",
              "exit code 7: rank 2 on b exited with code 7"});
}

TEST_CASE("an unexplained SIGKILL gets a hint about the OOM killer",
          "[cmd][unit]") {
  // DeepSpeed #4181, Horovod #1616: users saw a bare -9.
  JobReport report;
  report.outcome.verdict = Verdict::kWorkerFailed;
  report.outcome.reason = "rank 0 on gpu1 was killed by SIGKILL";
  report.outcome.workers = {Worker(0, "gpu1", {0, SIGKILL})};
  report.outcome.first_failed = report.outcome.workers[0];
  const Lines lines = ReportLines(report);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        "error: rank 0 on gpu1 (pid 4710) was killed by SIGKILL after 1 s");
  CHECK(lines[1].find("out-of-memory killer of gpu1") != std::string::npos);
  CHECK(lines[2] == "exit code 137: rank 0 on gpu1 was killed by SIGKILL");
}

TEST_CASE("a SIGSEGV is named and gets no such hint", "[cmd][unit]") {
  JobReport report;
  report.outcome.verdict = Verdict::kWorkerFailed;
  report.outcome.reason = "rank 0 on a was killed by SIGSEGV";
  report.outcome.workers = {Worker(0, "a", {0, SIGSEGV})};
  report.outcome.first_failed = report.outcome.workers[0];
  CHECK(ReportLines(report) ==
        Lines{"error: rank 0 on a (pid 4710) was killed by SIGSEGV after 1 s",
              "exit code 139: rank 0 on a was killed by SIGSEGV"});
}

TEST_CASE("a command that is not found is named once for all ranks",
          "[cmd][unit]") {
  JobReport report;
  report.outcome.verdict = Verdict::kNotFound;
  report.outcome.reason = "./trian: no such command";
  report.outcome.workers.resize(3);
  for (int rank = 0; rank < 3; ++rank) {
    WorkerEnd& worker = report.outcome.workers[static_cast<std::size_t>(rank)];
    worker.rank = rank;
    worker.worker = {"a", rank};
    worker.launch = LaunchId{rank + 1};
    worker.start_error = Error{ErrorCode::kNotFound, report.outcome.reason};
  }
  report.outcome.first_failed = report.outcome.workers[0];
  CHECK(ReportLines(report) ==
        Lines{"error: ./trian: no such command",
              "exit code 127: ./trian: no such command"});
}

TEST_CASE("a cause that is no worker has no rank, only victims",
          "[cmd][unit]") {
  JobReport report = FirstFailure();
  report.outcome.verdict = Verdict::kTimedOut;
  report.outcome.reason = "the job was not done after 60 s (--timeout)";
  report.outcome.first_failed.reset();
  report.outcome.workers = {Worker(0, "a", {}), Victim(1, "a", {0, SIGTERM})};
  CHECK(ReportLines(report) ==
        Lines{"error: the job was not done after 60 s (--timeout)",
              "the others: rank 0 had exited with 0; rank 1 killed by hvdrun "
              "(SIGTERM)",
              "exit code 124: the job was not done after 60 s (--timeout)"});
}

TEST_CASE("workers that never ended are said to be there still",
          "[cmd][unit]") {
  JobReport report = FirstFailure();
  report.outcome.workers[3].status.reset();
  const Lines lines = ReportLines(report);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[lines.size() - 2].find("rank 3 still running") !=
        std::string::npos);
}

TEST_CASE("a success is reported by its last line alone", "[cmd][unit]") {
  CHECK(ReportLines(Success()) ==
        Lines{"exit code 0: all 2 workers exited with 0"});
}

TEST_CASE("the JSON report of a failure is what its golden file says",
          "[cmd][unit]") {
  const std::string json = ReportJson(FirstFailure());
  CHECK(json == testing::Golden("report_failure.json", json));
  const Json parsed = Json::parse(json);
  CHECK(parsed["first_failure"]["rank"] == 2);
  CHECK(parsed["victims"] == Json::array({0, 1, 3}));
}

TEST_CASE("the JSON report of a success is what its golden file says",
          "[cmd][unit]") {
  const std::string json = ReportJson(Success());
  CHECK(json == testing::Golden("report_success.json", json));
  const Json parsed = Json::parse(json);
  CHECK(parsed["first_failure"].is_null());
  CHECK(parsed["phases_ms"]["all_joined"].is_null());
}

TEST_CASE("resets are reported before the last line, and to the microsecond",
          "[cmd][unit]") {
  JobReport report = Success();
  report.outcome.resets = {{.epoch = Epoch{2},
                            .why = "1 newcomer",
                            .size_before = 1,
                            .size_after = 2,
                            .seen = 500'125us,
                            .published = 501'000us,
                            .formed = std::nullopt}};
  const Lines lines = ReportLines(report);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "1 reset:");
  CHECK(lines[2] == "exit code 0: all 2 workers exited with 0");
  CHECK(Json::parse(ReportJson(report))["resets"] ==
        Json::array({{{"epoch", 2},
                      {"why", "1 newcomer"},
                      {"size_before", 1},
                      {"size_after", 2},
                      {"seen_ms", 500.125},
                      {"published_ms", 501.0},
                      {"formed_ms", nullptr}}}));
}

TEST_CASE("a JSON report is valid whatever a worker wrote", "[cmd][unit]") {
  JobReport report = FirstFailure();
  report.first_failure_stderr = "\xff\xfe \"quoted\" \x01\n";
  report.command = {"\xc3("};
  const Json parsed = Json::parse(ReportJson(report), nullptr, false);
  CHECK_FALSE(parsed.is_discarded());
}

}  // namespace hvd
