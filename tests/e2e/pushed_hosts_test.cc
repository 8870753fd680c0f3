// Hosts that a script pushes to a running job with curl (--control-file).
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/e2e/elastic_ring.h"
#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// curl's own, where it says what became of a request.
constexpr int kRefusedByServer = 22;
constexpr int kCannotConnect = 7;

// A job with a control file, and a script's ways to use it.
class PushedJob {
 public:
  explicit PushedJob(const std::string& steps,
                     std::vector<std::string> flags = {"-np", "2", "--min-np",
                                                       "1"}) {
    flags.insert(flags.end(), {"--control-file", control()});
    job_ =
        std::make_unique<Program>(Ring(std::move(flags), steps), Marked(mark_));
  }

  std::string control() const { return directory_ / "control"; }
  Program& job() { return *job_; }

  ProgramResult Push(const std::string& hosts,
                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"curl", "--config", control(),
                                   "--upload-file",
                                   directory_.Write("hosts", hosts)};
    words.insert(words.end(), more.begin(), more.end());
    return RunProgram(words);
  }

  void WaitForSteps(int size) {
    const bool done =
        job_->WaitUntil([&] { return HasSteps(job_->out(), size, 5); }, 20s);
    INFO(job_->err() << job_->out());
    REQUIRE(done);
  }

  ProgramResult Finish() {
    ProgramResult result = job_->Wait(30s);
    CHECK(NoneLeft(mark_.text(), 1s));
    return result;
  }

 private:
  const ScopedMark mark_;
  const TemporaryDirectory directory_;
  std::unique_ptr<Program> job_;
};

bool Exists(const std::string& file) { return std::filesystem::exists(file); }

}  // namespace

TEST_CASE("a job grows and shrinks by lists that curl pushes", "[e2e]") {
  PushedJob t("120");
  t.WaitForSteps(2);
  const ProgramResult grown = t.Push("localhost:2\n127.0.0.2:1\n");
  INFO(grown.out << grown.err);
  CHECK(grown.status.success());
  CHECK(grown.out.empty());
  t.WaitForSteps(3);
  CHECK(t.Push("localhost:1\n127.0.0.2:1\n").status.success());
  REQUIRE(t.job().WaitUntil(
      [&] {
        return *StepsAtSize(t.job().out(), 2).rbegin() >
               *StepsAtSize(t.job().out(), 3).rbegin();
      },
      20s));
  const ProgramResult result = t.Finish();
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CheckAllSteps(result.out, 120);
  CHECK(Contains(result.err, "localhost/1 is not listed any more"));
  CHECK(Count(result.out, "<stdout>:pid=") == 3);
  CHECK_FALSE(Exists(t.control()));
}

TEST_CASE("a push that is refused says why and changes nothing", "[e2e]") {
  PushedJob t("40");
  t.WaitForSteps(2);
  const ProgramResult bad = t.Push("localhost:2\n127.0.0.2:many\n");
  CHECK(bad.status.code == kRefusedByServer);
  CHECK(bad.out ==
        "pushed hosts:2: slots must be 1 or more, got \"many\": "
        "\"127.0.0.2:many\"\n");
  CHECK(t.Push("").status.code == kRefusedByServer);
  CHECK(t.Push("localhost:3\n", {"--header", "Authorization: Bearer guess"})
            .status.code == kRefusedByServer);
  const ProgramResult result = t.Finish();
  INFO(result.err << result.out);
  CHECK(result.status.success());
  CHECK(Contains(result.err, "pushed hosts:2: slots must be 1 or more"));
  CHECK(Contains(result.err, "the token is not this job's"));
  CHECK_FALSE(Contains(result.err, "epoch 2"));
}

TEST_CASE("the token of a control file is shown nowhere else", "[e2e]") {
  const TemporaryDirectory directory;
  PushedJob t("20", {"-np", "2", "--verbose", "--explain", "--log-level",
                     "TRACE", "--report", directory / "report"});
  t.WaitForSteps(2);
  const std::string begin = "Bearer ";
  const std::string text = ReadFile(t.control());
  const std::size_t at = text.find(begin);
  REQUIRE(at != std::string::npos);
  const std::string token = text.substr(at + begin.size(), 64);
  for (const std::string file : {"cmdline", "environ"}) {
    for (const auto rank : {0, 1}) {
      const auto pid = PidOfRank(t.job().out(), rank);
      REQUIRE(pid);
      const std::string shown =
          ReadFile("/proc/" + std::to_string(*pid) + '/' + file);
      CHECK_FALSE(shown.empty());
      CHECK_FALSE(Contains(shown, token));
    }
  }
  CHECK(t.Push("localhost:2\n").status.success());
  const ProgramResult result = t.Finish();
  CHECK(result.status.success());
  CHECK_FALSE(Contains(result.out + result.err, token));
  const std::string report = ReadFile(directory / "report");
  CHECK_FALSE(report.empty());
  CHECK_FALSE(Contains(report, token));
}

TEST_CASE("a proxy in the environment does not get the token", "[e2e]") {
  PushedJob t("20");
  t.WaitForSteps(2);
  const ProgramResult pushed = RunProgram(
      {"curl", "--config", t.control(), "--data-binary", "localhost:2"},
      {.env = {{"http_proxy", "http://127.0.0.1:9"},
               {"ALL_PROXY", "http://127.0.0.1:9"}}});
  INFO(pushed.out << pushed.err);
  CHECK(pushed.status.success());
  CHECK(t.Finish().status.success());
}

TEST_CASE("a signal that ends a job takes its control file away", "[e2e]") {
  PushedJob t("4000");
  t.WaitForSteps(2);
  t.job().Signal(SIGTERM);
  CHECK(t.Finish().status.code == 143);
  CHECK_FALSE(Exists(t.control()));
}

TEST_CASE("the control file of a killed hvdrun opens nothing and is replaced",
          "[e2e]") {
  PushedJob t("4000");
  t.WaitForSteps(2);
  const std::string old = ReadFile(t.control());
  t.job().Signal(SIGKILL);
  CHECK(t.job().Wait().status.signal == SIGKILL);
  REQUIRE(Exists(t.control()));
  CHECK(t.Push("localhost:1\n").status.code == kCannotConnect);
  const ProgramResult next =
      Hvdrun({"-np", "1", "--control-file", t.control(), "cat", t.control()});
  INFO(next.err);
  CHECK(next.status.success());
  CHECK(Contains(next.out, "Authorization: Bearer "));
  CHECK_FALSE(Contains(next.out, old.substr(old.find("Bearer "))));
  CHECK_FALSE(Exists(t.control()));
}

TEST_CASE("no worker is started when the control file cannot be made",
          "[e2e]") {
  const TemporaryDirectory directory;
  const std::string place = directory / "missing/control";
  const ProgramResult result =
      Hvdrun({"-np", "1", "--control-file", place, "echo", "started"});
  CHECK(result.status.code == 125);
  CHECK(result.out.empty());
  CHECK(result.err == "hvdrun: error: --control-file: write " + place +
                          ": No such file or directory\n"
                          "hvdrun: exit code 125: nothing was started\n");
}

TEST_CASE("of a script and a push the newest change counts", "[e2e]") {
  const TemporaryDirectory directory;
  const std::string list = directory.Write("list", "localhost:2\n");
  PushedJob t("120", {"-np", "2", "--min-np", "1", "--host-discovery-script",
                      "cat " + list, "--discovery-interval", "0.05"});
  t.WaitForSteps(2);
  CHECK(t.Push("localhost:3\n").status.success());
  // The script says what it has said all along, again and again.
  t.WaitForSteps(3);
  directory.Write("list", "localhost:1\n");
  t.WaitForSteps(1);
  const ProgramResult result = t.Finish();
  INFO(result.err << result.out);
  CHECK(result.status.success());
}

}  // namespace hvd::testing
