#include "examples/digits/trainer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace digits {
namespace {

// How many of the first `count` items are this rank's when they are dealt one
// by one, in rank order, as hvd::ElasticSampler does. So every batch is the
// next part of the epoch's order, whatever the number of ranks.
std::size_t DealtToMe(std::size_t count) {
  const auto rank = static_cast<std::size_t>(hvd::Rank());
  const auto size = static_cast<std::size_t>(hvd::Size());
  return (count + size - 1 - rank) / size;
}

}  // namespace

Trainer::Trainer(std::vector<Image> images, const TrainingOptions& options)
    : images_(std::move(images)),
      options_(options),
      gradient_(Model::kParameters + 1),
      velocity_(Model::kParameters),
      sampler_(images_.size(), options.seed) {
  Random weights(options.seed + 1);
  model_.Initialise(weights);
}

void Trainer::Register(hvd::ElasticState& state) {
  state.RegisterArray(model_.parameters().data(), Model::kParameters);
  state.RegisterVector(velocity_);
  state.RegisterSampler(sampler_);
  state.RegisterScalar(progress_);
  state.RegisterVector(losses_);
}

void Trainer::EnterWorld() { dealt_from_ = images_done(); }

std::size_t Trainer::images_done() const {
  return std::min(progress_.steps * options_.batch, images_.size());
}

std::size_t Trainer::BatchSize() const {
  return std::min(options_.batch, images_.size() - images_done());
}

std::vector<std::size_t> Trainer::NextShare() {
  const std::size_t begin = images_done() - dealt_from_;
  return sampler_.Next(DealtToMe(begin + BatchSize()) - DealtToMe(begin));
}

void Trainer::Step(const std::vector<std::size_t>& mine) {
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  const std::span<double> sums(gradient_.data(), Model::kParameters);
  double& loss = gradient_.back();
  for (const std::size_t image : mine) {
    loss += model_.AddGradient(images_[image], sums);
  }
  hvd::AllReduce(gradient_.data(), gradient_.size(), hvd::ReduceOp::kAverage);

  // An average over ranks of sums over images; times the ranks it is the sum
  // over the batch, however unevenly the batch was shared.
  const auto ranks = static_cast<double>(hvd::Size());
  const double to_mean = ranks / static_cast<double>(BatchSize());
  const std::span<double> parameters = model_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    velocity_[i] = options_.momentum * velocity_[i] + to_mean * gradient_[i];
    parameters[i] -= options_.learning_rate * velocity_[i];
  }
  progress_.loss += loss * ranks;
  ++progress_.steps;
  sampler_.RecordBatch(mine.size());
}

void Trainer::EndEpoch() {
  losses_.push_back(progress_.loss / static_cast<double>(images_.size()));
  progress_ = {};
  dealt_from_ = 0;
  sampler_.SetEpoch(epoch());
}

double Trainer::Accuracy(const std::vector<Image>& images) const {
  std::int64_t right = 0;
  const auto size = static_cast<std::size_t>(hvd::Size());
  for (auto i = static_cast<std::size_t>(hvd::Rank()); i < images.size();
       i += size) {
    if (model_.Classify(images[i]) == images[i].label) ++right;
  }
  hvd::AllReduce(&right, 1, hvd::ReduceOp::kSum);
  return static_cast<double>(right) / static_cast<double>(images.size());
}

}  // namespace digits
