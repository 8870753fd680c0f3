#include <hvd/elastic_sampler.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "worker/sampler_access.h"
#include "worker/this_process.h"

namespace hvd {

void ElasticSampler::Impl::EnterWorld() {
  const Identity& here = Joined().identity();
  plan.Enter({.world = here.epoch, .rank = here.rank, .size = here.size});
}

SamplerPlan& ElasticSampler::Impl::Entered() {
  if (!plan.entered()) EnterWorld();
  return plan;
}

ElasticSampler::ElasticSampler(std::size_t samples, std::uint64_t seed,
                               SampleOrder order)
    : impl_(std::make_unique<Impl>(
          Impl{SamplerPlan({.samples = samples,
                            .seed = seed,
                            .shuffled = order == SampleOrder::kShuffled})})) {}

ElasticSampler::~ElasticSampler() = default;

void ElasticSampler::SetEpoch(std::uint64_t epoch) {
  impl_->plan.StartEpoch(epoch);
}

std::uint64_t ElasticSampler::epoch() const { return impl_->plan.epoch(); }

std::vector<std::size_t> ElasticSampler::Next(std::size_t limit) {
  const std::span<const std::size_t> left = impl_->Entered().Left();
  const auto next = left.first(std::min(limit, left.size()));
  return {next.begin(), next.end()};
}

void ElasticSampler::RecordBatch(std::size_t count) {
  SamplerPlan& plan = impl_->Entered();
  if (plan.Record(count)) return;
  throw std::invalid_argument("hvd: RecordBatch: " + std::to_string(count) +
                              " samples, but this rank has only " +
                              std::to_string(plan.Left().size()) + " left");
}

std::size_t ElasticSampler::Steps(std::size_t batch) {
  if (batch == 0)
    throw std::invalid_argument("hvd: Steps: batch must not be 0");
  const std::size_t longest = impl_->Entered().LongestLeft();
  return longest / batch + (longest % batch != 0 ? 1 : 0);
}

std::size_t ElasticSampler::done() { return impl_->plan.Done(); }

}  // namespace hvd
