// digits in an elastic job: whatever dies, the training is the one that nothing
// disturbed.
//
// A batch is the whole job's and is the next part of the epoch's order, so a
// smaller or larger world makes the same steps; only sums over ranks are formed
// in another order. Hence the whole loss curve can be compared, not its end.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/examples/batch_journal.h"
#include "tests/examples/example_runs.h"
#include "tests/support/lines.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

constexpr std::size_t kEpochs = 20;
constexpr std::size_t kImages = 1437;
constexpr std::size_t kBatch = 16;
constexpr std::size_t kStepsAnEpoch = (kImages + kBatch - 1) / kBatch;

const std::vector<std::string> kTraining = {
    kDigits,          "--epochs", std::to_string(kEpochs), "--batch", "16",
    "--commit-every", "7"};

std::vector<std::string> Logged(const BatchJournal& journal) {
  std::vector<std::string> program = kTraining;
  program.insert(program.end(), {"--log-batches", journal.path()});
  return program;
}

// What `digits` alone does, without hvdrun.
struct Undisturbed {
  std::vector<double> losses;
  std::map<std::size_t, std::vector<std::size_t>> batches;  // by step
};

Undisturbed TrainAlone() {
  const TemporaryDirectory directory;
  BatchJournal journal(directory / "batches", kStepsAnEpoch);
  Program digits(Logged(journal));
  const bool ended = digits.WaitUntil(
      [&] {
        journal.Read();
        return !digits.running();
      },
      kTrainingLimit);
  INFO(digits.out() << digits.err());
  REQUIRE(ended);
  journal.Read();
  return {NumbersAfter("loss", digits.Wait().out), journal.Counted()};
}

// The second column of the curve that --result-file holds.
std::vector<double> LossesOf(const std::string& curve) {
  std::vector<double> losses;
  for (const std::string& line : Lines(curve)) {
    if (line == "epoch,loss") continue;
    losses.push_back(std::stod(line.substr(line.find(',') + 1)));
  }
  return losses;
}

void CheckSameCurve(const std::vector<double>& losses,
                    const std::vector<double>& expected) {
  REQUIRE(losses.size() == expected.size());
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    CAPTURE(epoch);
    CHECK(losses[epoch] == Approx(expected[epoch]).epsilon(1e-5).margin(0));
  }
}

// A line that was printed before its rank died may be printed again.
void CheckEveryEpochIsTold(const std::string& out,
                           const std::vector<double>& expected) {
  const std::vector<double> epochs = NumbersAfter("epoch", out);
  const std::vector<double> losses = NumbersAfter("loss", out);
  REQUIRE(epochs.size() == losses.size());
  std::map<double, double> told;
  for (std::size_t i = 0; i < epochs.size(); ++i) told[epochs[i]] = losses[i];
  std::vector<double> curve;
  for (const auto& [epoch, loss] : told) curve.push_back(loss);
  CheckSameCurve(curve, expected);
}

// Each epoch's images are all of them, each once; and each step's are those of
// the undisturbed training.
void CheckEachImageCountsOnce(const BatchJournal& journal,
                              const Undisturbed& alone) {
  const auto counted = journal.Counted();
  std::vector<std::vector<std::size_t>> epochs(kEpochs);
  for (const auto& [step, images] : counted) {
    std::vector<std::size_t>& epoch = epochs.at(step / kStepsAnEpoch);
    epoch.insert(epoch.end(), images.begin(), images.end());
  }
  std::vector<std::size_t> all(kImages);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::vector<std::size_t>& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    CAPTURE(&epoch - epochs.data());
    CHECK(epoch == all);
  }
  CHECK(counted == alone.batches);
}

}  // namespace

TEST_CASE("digits trains on as if nothing had happened whichever rank dies",
          "[examples]") {
  static const Undisturbed alone = TrainAlone();
  REQUIRE(alone.losses.size() == kEpochs);
  const std::size_t victim = GENERATE(0U, 1U, 2U, 3U);
  std::mt19937 random(static_cast<unsigned>(victim));  // its seed
  CAPTURE(victim);

  const ScopedMark mark;
  const TemporaryDirectory directory;
  const std::string curve = directory / "curve.csv";
  BatchJournal journal(directory / "batches", kStepsAnEpoch);
  ProgramOptions options;
  options.env.emplace_back("TEST_MARK", mark.text());
  Program job(Hvdrun({"-np", "4", "--min-np", "2", "--result-file", curve,
                      "--slot-failures", "9", "--blacklist-cooldown-range",
                      "0.1", "0.1"},
                     Logged(journal)),
              options);
  // Three times, each within another part of the training; the last one may
  // hit a worker that was started for the first.
  std::size_t world = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const std::size_t at = part * 400 + random() % 400;
    const bool reached = job.WaitUntil(
        [&] { return journal.Reaches(world, victim, at); }, kTrainingLimit);
    INFO("step " << at << '\n' << job.out() << job.err());
    REQUIRE(reached);
    const auto last = std::find_if(
        journal.lines().rbegin(), journal.lines().rend(),
        [&](const BatchLine& line) { return line.rank == victim; });
    world = last->world;
    REQUIRE(::kill(last->pid, SIGKILL) == 0);
  }
  const bool ended = job.WaitUntil(
      [&] {
        journal.Read();
        return !job.running();
      },
      kTrainingLimit);
  INFO(job.out() << job.err());
  REQUIRE(ended);
  const ProgramResult result = job.Wait();
  journal.Read();

  CHECK(result.status == ExitStatus{});
  CHECK(Accuracy(result.out) >= 0.95);
  CheckSameCurve(LossesOf(ReadFile(curve)), alone.losses);
  CheckEveryEpochIsTold(result.out, alone.losses);
  CheckEachImageCountsOnce(journal, alone);
  CHECK(NoneLeft(mark.text(), 1s));
}

}  // namespace hvd::testing
