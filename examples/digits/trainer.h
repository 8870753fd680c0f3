// Trainer: data-parallel SGD with momentum over all ranks of the job.
//
// Every rank holds all images and the same parameters; of each batch it works
// on its own share. The batch is the whole job's, so the number of ranks
// changes the speed and not the result.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/digits/dataset.h"
#include "examples/digits/model.h"
#include "examples/digits/random.h"

namespace digits {

struct TrainingOptions {
  std::size_t batch = 32;  // of the whole job
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::uint64_t seed = 1;
};

class Trainer {
 public:
  // Takes rank 0's parameters on all ranks. hvd::Init comes first. Throws
  // hvd::CommError, as the others do.
  Trainer(std::vector<Image> images, const TrainingOptions& options);

  // Sees each image once, in a new order. Returns the mean loss, the same on
  // every rank.
  double RunEpoch();

  // The share of `images` that the model gets right, the same on every rank.
  double Accuracy(const std::vector<Image>& images) const;

  std::size_t images() const { return images_.size(); }

 private:
  // One step on images_[order_[begin, end)]; returns their summed loss.
  double Step(std::size_t begin, std::size_t end);

  std::vector<Image> images_;
  TrainingOptions options_;
  Model model_;
  Random random_;
  std::vector<std::size_t> order_;
  std::vector<double> velocity_;
  std::vector<double> gradient_;  // and behind it the loss: one collective
};

}  // namespace digits
