// Trainer: data-parallel SGD with momentum over all ranks of the job.
//
// Every rank holds all images and the same parameters; of each batch it works
// on its own share. The batch is the whole job's, and an epoch has one order of
// images, so the number of ranks changes the speed and not the result: not even
// when ranks die, come and go on the way.
#pragma once

#include <hvd/elastic.h>

#include <cstdint>
#include <vector>

#include "examples/digits/dataset.h"
#include "examples/digits/model.h"

namespace digits {

struct TrainingOptions {
  std::size_t batch = 32;  // of the whole job
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::uint64_t seed = 1;
};

class Trainer {
 public:
  // The same parameters on all ranks, as the seed is.
  Trainer(std::vector<Image> images, const TrainingOptions& options);

  // Puts into `state` all that training changes.
  void Register(hvd::ElasticState& state);
  // Comes first in every world.
  void EnterWorld();

  // This rank's part of the next batch, as numbers of images; may be empty.
  std::vector<std::size_t> NextShare();
  // One step on that batch, `mine` being this rank's part. Throws
  // hvd::CommError, as Accuracy does.
  void Step(const std::vector<std::size_t>& mine);
  // Each image was seen once.
  bool EpochIsDone() const { return images_done() == images_.size(); }
  // Goes on to the next epoch.
  void EndEpoch();

  std::size_t images() const { return images_.size(); }
  std::size_t images_done() const;                      // of the epoch
  std::size_t epoch() const { return losses_.size(); }  // from 0
  std::size_t step() const { return progress_.steps; }  // of the epoch, from 0
  // The mean loss of each epoch that has ended, the same on every rank.
  const std::vector<double>& losses() const { return losses_; }
  // The share of `images` that the model gets right, the same on every rank.
  double Accuracy(const std::vector<Image>& images) const;

 private:
  struct Progress {  // of the epoch
    std::size_t steps = 0;
    double loss = 0;  // summed over the images that are done
  };

  std::size_t BatchSize() const;

  std::vector<Image> images_;
  TrainingOptions options_;
  std::size_t dealt_from_ = 0;    // images that were done before this world
  std::vector<double> gradient_;  // and behind it the loss: one collective

  // What the elastic state holds.
  Model model_;
  std::vector<double> velocity_;
  hvd::ElasticSampler sampler_;
  Progress progress_;
  std::vector<double> losses_;
};

}  // namespace digits
