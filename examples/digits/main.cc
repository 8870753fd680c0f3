// digits: learns to read handwritten digits on all ranks of the job.
//
//   hvdrun -np 4 digits
//   digits                     alone, the same result
//
// digits --help lists the flags. The data is digits.csv beside the program,
// else the one in the source tree.
#include <hvd/hvd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "examples/digits/dataset.h"
#include "examples/digits/trainer.h"

namespace {

using digits::Dataset;
using digits::Trainer;
using digits::TrainingOptions;

constexpr std::size_t kTestImages = 360;  // a fifth
// Which images are the test does not depend on --seed: they stay unseen over
// all runs.
constexpr std::uint64_t kSplitSeed = 1998;

std::string DefaultData() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = program.parent_path() / "digits.csv";
  if (!error && std::filesystem::exists(beside, error)) return beside;
  return DIGITS_SOURCE_DATA;
}

struct Settings {
  std::int64_t epochs = 20;
  bool shuffle_labels = false;
  std::string data = DefaultData();
  TrainingOptions training;
};

void AddFlags(CLI::App& app, Settings& settings) {
  app.option_defaults()->always_capture_default();
  TrainingOptions& training = settings.training;
  app.add_option("--epochs", settings.epochs, "passes over the images")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  app.add_option("--batch", training.batch, "images a step, of the whole job")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'797}));
  app.add_option("--lr", training.learning_rate, "learning rate")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--seed", training.seed, "of weights and order");
  app.add_flag("--shuffle-labels", settings.shuffle_labels,
               "train on wrong labels: nothing can be learnt");
  app.add_option("--data", settings.data, "the images, as CSV");
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
    Settings settings;
    CLI::App app("learns to read handwritten digits on all ranks", "digits");
    AddFlags(app, settings);
    CLI11_PARSE(app, argc, argv);
    Train(settings);
  } catch (const hvd::CommError& error) {
    std::fprintf(stderr, "digits: training ended: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
  return 0;
}
