#include "examples/digits/trainer.h"

#include <hvd/hvd.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace digits {
namespace {

// This rank's part of [begin, end): every rank's part, in rank order, makes up
// the whole, whatever the number of ranks.
std::pair<std::size_t, std::size_t> ShareOf(std::size_t begin,
                                            std::size_t end) {
  const auto rank = static_cast<std::size_t>(hvd::Rank());
  const auto size = static_cast<std::size_t>(hvd::Size());
  const std::size_t count = end - begin;
  return {begin + count * rank / size, begin + count * (rank + 1) / size};
}

}  // namespace

Trainer::Trainer(std::vector<Image> images, const TrainingOptions& options)
    : images_(std::move(images)),
      options_(options),
      random_(options.seed),
      order_(images_.size()),
      velocity_(Model::kParameters),
      gradient_(Model::kParameters + 1) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (hvd::Rank() == 0) {
    Random weights(options.seed + 1);
    model_.Initialise(weights);
  }
  hvd::Broadcast(model_.parameters().data(), Model::kParameters, 0);
}

double Trainer::RunEpoch() {
  random_.Shuffle(order_);  // the same order everywhere: the seed is
  double loss = 0;
  for (std::size_t begin = 0; begin < images_.size();) {
    const std::size_t end = std::min(begin + options_.batch, images_.size());
    loss += Step(begin, end);
    begin = end;
  }
  return loss / static_cast<double>(images_.size());
}

double Trainer::Step(std::size_t begin, std::size_t end) {
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  const std::span<double> sums(gradient_.data(), Model::kParameters);
  double& loss = gradient_.back();
  const auto [mine, mine_end] = ShareOf(begin, end);
  for (std::size_t i = mine; i < mine_end; ++i) {
    loss += model_.AddGradient(images_[order_[i]], sums);
  }
  hvd::AllReduce(gradient_.data(), gradient_.size(), hvd::ReduceOp::kAverage);

  // An average over ranks of sums over images; times the ranks it is the sum
  // over the batch, however unevenly the batch was shared.
  const auto ranks = static_cast<double>(hvd::Size());
  const double to_mean = ranks / static_cast<double>(end - begin);
  const std::span<double> parameters = model_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    velocity_[i] = options_.momentum * velocity_[i] + to_mean * gradient_[i];
    parameters[i] -= options_.learning_rate * velocity_[i];
  }
  return loss * ranks;
}

double Trainer::Accuracy(const std::vector<Image>& images) const {
  std::int64_t right = 0;
  const auto [mine, mine_end] = ShareOf(0, images.size());
  for (std::size_t i = mine; i < mine_end; ++i) {
    if (model_.Classify(images[i]) == images[i].label) ++right;
  }
  hvd::AllReduce(&right, 1, hvd::ReduceOp::kSum);
  return static_cast<double>(right) / static_cast<double>(images.size());
}

}  // namespace digits
