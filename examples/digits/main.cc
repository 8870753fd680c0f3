// digits: learns to read handwritten digits on all ranks of the job.
//
//   hvdrun -np 4 digits
//   digits                     alone, the same result
//
// Flags: --epochs N (20), --batch N (32, of the whole job), --lr X (0.05),
// --seed N (1), --shuffle-labels, --data FILE (digits.csv beside the program,
// else the one in the source tree).
#include <hvd/hvd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "examples/digits/dataset.h"
#include "examples/digits/trainer.h"
#include "examples/flags.h"

namespace {

using digits::Dataset;
using digits::Trainer;
using digits::TrainingOptions;

constexpr std::size_t kTestImages = 360;  // a fifth
// Which images are the test does not depend on --seed: they stay unseen over
// all runs.
constexpr std::uint64_t kSplitSeed = 1998;

struct Settings {
  std::int64_t epochs = 20;
  bool shuffle_labels = false;
  std::string data;
  TrainingOptions training;
};

std::string DefaultData() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = program.parent_path() / "digits.csv";
  if (!error && std::filesystem::exists(beside, error)) return beside;
  return DIGITS_SOURCE_DATA;
}

Settings ReadFlags(int argc, char** argv) {
  const examples::Flags flags(
      argc, argv, {"--epochs", "--batch", "--lr", "--seed", "--data"},
      {"--shuffle-labels"});
  Settings settings;
  TrainingOptions& training = settings.training;
  settings.epochs = flags.Count("--epochs", settings.epochs, 1'000'000);
  settings.shuffle_labels = flags.Has("--shuffle-labels");
  settings.data = flags.Text("--data", DefaultData());
  training.batch = static_cast<std::size_t>(flags.Count("--batch", 32, 1'797));
  if (training.batch == 0) throw std::invalid_argument("--batch must not be 0");
  training.learning_rate = flags.Number("--lr", training.learning_rate);
  training.seed = static_cast<std::uint64_t>(
      flags.Count("--seed", 1, std::int64_t{1} << 62));
  return settings;
}

void Train(const Settings& settings) {
  hvd::Init();
  Dataset dataset =
      digits::Split(digits::ReadImages(settings.data), kTestImages, kSplitSeed);
  if (settings.shuffle_labels) {
    digits::ShuffleLabels(dataset.train, settings.training.seed);
  }
  Trainer trainer(std::move(dataset.train), settings.training);
  const bool speaks = hvd::Rank() == 0;
  for (std::int64_t epoch = 1; epoch <= settings.epochs; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    const double loss = trainer.RunEpoch();
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    if (!speaks) continue;
    std::printf("epoch=%lld loss=%.9g images/s=%.0f\n",
                static_cast<long long>(epoch), loss,
                static_cast<double>(trainer.images()) / took.count());
    std::fflush(stdout);
  }
  const double accuracy = trainer.Accuracy(dataset.test);
  if (speaks) {
    std::printf("train=%zu test=%zu accuracy=%.3f\n", trainer.images(),
                dataset.test.size(), accuracy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Train(ReadFlags(argc, argv));
  } catch (const hvd::CommError& error) {
    std::fprintf(stderr, "digits: training ended: %s\n", error.what());
    return 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
  return 0;
}
