// digits: learns to read handwritten digits on all ranks of the job.
//
//   hvdrun -np 4 digits
//   hvdrun -np 4 --min-np 2 digits     goes on when workers die
//   digits                             alone, the same result
//
// digits --help lists the flags. The data is digits.csv beside the program,
// else the one in the source tree.
#include <hvd/elastic.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "examples/digits/batch_log.h"
#include "examples/digits/dataset.h"
#include "examples/digits/trainer.h"

namespace {

using digits::BatchLog;
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
  std::size_t epochs = 20;
  std::size_t commit_every = 10;
  bool shuffle_labels = false;
  std::string data = DefaultData();
  std::string log;
  TrainingOptions training;
};

void AddFlags(CLI::App& app, Settings& settings) {
  app.option_defaults()->always_capture_default();
  constexpr std::size_t kMost = 1'000'000;
  TrainingOptions& training = settings.training;
  app.add_option("--epochs", settings.epochs, "passes over the images")
      ->check(CLI::Range(std::size_t{0}, kMost));
  app.add_option("--batch", training.batch, "images a step, of the whole job")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'797}));
  app.add_option("--commit-every", settings.commit_every,
                 "steps: what is done again after a loss, at most")
      ->check(CLI::Range(std::size_t{1}, kMost));
  app.add_option("--lr", training.learning_rate, "learning rate")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--seed", training.seed, "of weights and order");
  app.add_flag("--shuffle-labels", settings.shuffle_labels,
               "train on wrong labels: nothing can be learnt");
  app.add_option("--data", settings.data, "the images, as CSV");
  app.add_option("--log-batches", settings.log,
                 "append to this file which images each rank took");
}

Dataset ReadDataset(const Settings& settings) {
  Dataset dataset =
      digits::Split(digits::ReadImages(settings.data), kTestImages, kSplitSeed);
  if (settings.shuffle_labels) {
    digits::ShuffleLabels(dataset.train, settings.training.seed);
  }
  return dataset;
}

// The rest of an epoch that may have begun in an older world.
void RunEpoch(Trainer& trainer, hvd::ElasticState& state,
              const Settings& settings, std::optional<BatchLog>& log) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t before = trainer.images_done();
  while (!trainer.EpochIsDone()) {
    const std::vector<std::size_t> mine = trainer.NextShare();
    if (log) log->Write(trainer.epoch(), trainer.step(), mine);
    trainer.Step(mine);
    if (trainer.step() % settings.commit_every == 0) state.Commit();
  }
  const std::size_t images = trainer.images_done() - before;
  trainer.EndEpoch();
  if (hvd::Rank() == 0) {
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    std::printf("epoch=%zu loss=%.9g images/s=%.0f\n", trainer.epoch(),
                trainer.losses().back(),
                static_cast<double>(images) / took.count());
    std::fflush(stdout);
  }
  state.Commit();  // after the line, or it could be lost with its rank
}

// What --result-file holds: the curve in full, whoever printed its parts.
std::string CurveText(const std::vector<double>& losses) {
  std::string text = "epoch,loss\n";
  for (std::size_t i = 0; i < losses.size(); ++i) {
    std::array<char, 64> line{};
    std::snprintf(line.data(), line.size(), "%zu,%.9g\n", i + 1, losses[i]);
    text += line.data();
  }
  return text;
}

void Train(const Settings& settings) {
  // All before Init: a newcomer's others train on until it calls that.
  const Dataset dataset = ReadDataset(settings);
  std::optional<BatchLog> log;
  if (!settings.log.empty()) log.emplace(settings.log);
  Trainer trainer(dataset.train, settings.training);
  hvd::ElasticState state;
  trainer.Register(state);
  hvd::Init();
  hvd::RunElastic(state, [&] {
    trainer.EnterWorld();
    while (trainer.epoch() < settings.epochs) {
      RunEpoch(trainer, state, settings, log);
    }
    const double accuracy = trainer.Accuracy(dataset.test);
    if (hvd::Rank() == 0) {
      hvd::SetResult(CurveText(trainer.losses()));
      std::printf("train=%zu test=%zu accuracy=%.3f\n", trainer.images(),
                  dataset.test.size(), accuracy);
      std::fflush(stdout);
    }
    hvd::Barrier();  // until that is told nobody leaves who could tell it
  });
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
