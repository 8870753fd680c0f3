// The example programs as a user runs them: alone and under hvdrun.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/examples/example_runs.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

std::size_t Occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("digits alone reads at least 95 of 100 images it never saw",
          "[examples]") {
  const auto result = RunWell({kDigits});
  CHECK(Accuracy(result.out) >= 0.95);
  const auto losses = NumbersAfter("loss", result.out);
  REQUIRE(losses.size() == 20);
  CHECK(losses.back() < losses.front() / 10);
  for (const double speed : NumbersAfter("images/s", result.out)) {
    CHECK(speed > 0);
  }
}

TEST_CASE("digits on four workers reads at least 95 of 100 unseen images",
          "[examples]") {
  CHECK(Accuracy(RunWell(Hvdrun({"-np", "4"}, {kDigits})).out) >= 0.95);
}

TEST_CASE("digits has the same loss curve on any ranks and hosts",
          "[examples]") {
  // A batch of 30 gives four ranks unequal shares, and the last one is smaller.
  const std::vector<std::string> program = {kDigits, "--epochs", "5", "--batch",
                                            "30"};
  const auto alone = NumbersAfter("loss", RunWell(program).out);
  REQUIRE(alone.size() == 5);
  const std::vector<std::string> flags =
      GENERATE(values<std::vector<std::string>>(
          {{"-np", "1"},
           {"-np", "2"},
           {"-np", "4"},
           {"-np", "4", "-H", "localhost:2,127.0.0.2:2"}}));
  const auto losses = NumbersAfter("loss", RunWell(Hvdrun(flags, program)).out);
  CAPTURE(flags);
  REQUIRE(losses.size() == alone.size());
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    CAPTURE(epoch);
    CHECK(losses[epoch] == Approx(alone[epoch]).epsilon(1e-5).margin(0));
  }
}

TEST_CASE("digits depends on its seed", "[examples]") {
  const auto losses = [](const std::string& seed) {
    return NumbersAfter(
        "loss", RunWell({kDigits, "--epochs", "2", "--seed", seed}).out);
  };
  const auto first = losses("1");
  CHECK(first == losses("1"));
  CHECK(first != losses("2"));
}

TEST_CASE("digits learns nothing from shuffled labels", "[examples]") {
  CHECK(Accuracy(RunWell({kDigits, "--shuffle-labels"}).out) < 0.2);
}

TEST_CASE("digits finds its data beside the program first", "[examples]") {
  const TemporaryDirectory directory;
  std::filesystem::copy(kDigits, directory / "digits");
  directory.Write("digits.csv", "not a digit\n");
  const auto result = RunProgram({directory / "digits"});
  CHECK(result.status.code == 1);
  CHECK(result.err == "digits: " + (directory / "digits.csv") +
                          ":1: not 64 values of 0 to 16 and a label\n");
}

TEST_CASE("digits refuses flags it does not know", "[examples]") {
  const auto result = RunProgram({kDigits, "--epoch", "3"});
  CHECK_FALSE(result.status.success());
  CHECK(result.err.find("--epoch") != std::string::npos);
}

TEST_CASE("digits ends with one line and a failure when a peer dies",
          "[examples]") {
  // The shell around rank 1's program outlives it, so that rank 0 hears of the
  // death from libhvd and not from hvdrun.
  const std::string script =
      "[ \"$HVD_RANK\" = 1 ] || exec \"$0\" --epochs 1000000\n"
      "\"$0\" --epochs 1000000 & echo pid=$!; wait; sleep 60";
  Program job(Hvdrun({"-np", "2"}, {"/bin/sh", "-c", script, kDigits}));
  const bool training = job.WaitUntil(
      [&] {
        return job.out().find("epoch=2 ") != std::string::npos &&
               job.out().find("pid=") != std::string::npos;
      },
      30s);
  INFO(job.out() << job.err());
  REQUIRE(training);
  const auto pid = static_cast<pid_t>(NumbersAfter("pid", job.out()).at(0));
  REQUIRE(::kill(pid, SIGKILL) == 0);
  const auto result = job.Wait();
  CHECK(result.status.code == 1);
  CHECK(Occurrences(result.out + result.err,
                    "[0]<stderr>:digits: training ended: ") == 1);
}

TEST_CASE("ring prints who it is and a sum that depends on the step",
          "[examples]") {
  const auto result = RunWell({kRing, "--steps", "3", "--rate", "0"});
  CHECK_THAT(result.out, Catch::Matchers::Matches(
                             "rank=0 size=1 step=1 sum=1 host=\\S+\n"
                             "rank=0 size=1 step=2 sum=2 host=\\S+\n"
                             "rank=0 size=1 step=3 sum=3 host=\\S+\n"));
}

TEST_CASE("ring prints a line a step on every rank, with its host",
          "[examples]") {
  const auto result =
      RunWell(Hvdrun({"-np", "4", "-H", "localhost:2,127.0.0.2:2"},
                     {kRing, "--steps", "2", "--rate", "0"}));
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 1; step <= 2; ++step) {
      const std::string line = "[" + std::to_string(rank) +
                               "]<stdout>:rank=" + std::to_string(rank) +
                               " size=4 step=" + std::to_string(step) +
                               " sum=" + std::to_string(10 * step) + " host=" +
                               (rank < 2 ? "localhost" : "127.0.0.2") + "\n";
      INFO(result.out);
      CHECK(Occurrences(result.out, line) == 1);
    }
  }
}

TEST_CASE("ring keeps to the rate it was given", "[examples]") {
  const auto result = RunWell({kRing, "--steps", "5", "--rate", "20"});
  CHECK(result.took >= 200ms);  // four pauses of 50 ms
}

TEST_CASE("ring combines as many bytes as it is told", "[examples]") {
  const auto result =
      RunWell(Hvdrun({"-np", "2"}, {kRing, "--steps", "2", "--rate", "0",
                                    "--bytes", "1000001"}));
  CHECK(Occurrences(result.out, "size=2 step=2 sum=6") == 2);
}

TEST_CASE("hello, the C example, runs alone and under hvdrun", "[examples]") {
  CHECK(RunWell({kBin + "/hello"}).out == "rank 0 of 1: the sum is 1\n");
  const auto result = RunWell(Hvdrun({"-np", "2"}, {kBin + "/hello"}));
  INFO(result.out);
  CHECK(Occurrences(result.out, "[0]<stdout>:rank 0 of 2: the sum is 3\n") ==
        1);
  CHECK(Occurrences(result.out, "[1]<stdout>:rank 1 of 2: the sum is 3\n") ==
        1);
}

TEST_CASE("ci-smoke.sh passes for an ordinary user", "[examples]") {
  // The build tree may lie where only its owner can go.
  const TemporaryDirectory directory;
  const std::filesystem::path home = directory.path();
  std::filesystem::permissions(home, std::filesystem::perms(0755));
  for (const char* name : {"bin/hvdrun", "bin/ring",
                           "libexec/hvdrun/hvdrun-keeper", "lib/libhvd.so.0"}) {
    std::filesystem::create_directories((home / name).parent_path());
    std::filesystem::copy(std::filesystem::path(HVD_BUILD_DIR) / name,
                          home / name);
  }
  std::filesystem::copy(HVD_EXAMPLES_DIR "/ci-smoke.sh", home / "ci-smoke.sh");
  constexpr uid_t kNobody = 65534;
  ProgramOptions options;
  options.env = {{"LD_LIBRARY_PATH", home / "lib"}, {"TMPDIR", "/tmp"}};
  options.uid = ::getuid() == 0 ? kNobody : 0;
  const auto result = RunProgram({home / "ci-smoke.sh", home / "bin"}, options);
  INFO(result.out << result.err);
  CHECK(result.status == ExitStatus{});
  CHECK_THAT(result.out,
             Catch::Matchers::StartsWith("ci-smoke: 2 workers, 5 steps, "));
}

}  // namespace hvd::testing
