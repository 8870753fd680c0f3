#include "worker/sampler_plan.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "base/check.h"

namespace hvd {
namespace {

// Rank `rank`'s share of `dealt` cards.
std::size_t ShareOf(std::size_t dealt, std::size_t rank, std::size_t size) {
  return dealt / size + (rank < dealt % size ? 1 : 0);
}

bool IsEmpty(const std::vector<std::uint64_t>& counts) {
  return std::all_of(counts.begin(), counts.end(),
                     [](std::uint64_t count) { return count == 0; });
}

// `left` without what the ranks have done of it. Card i is rank i % size's.
std::vector<std::size_t> Without(const std::vector<std::uint64_t>& counts,
                                 const std::vector<std::size_t>& left) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (i / counts.size() >= counts[i % counts.size()]) rest.push_back(left[i]);
  }
  return rest;
}

void Put(std::string& out, std::uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The numbers of a saved plan, one after another.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> Next() {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof(value)) return std::nullopt;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  std::size_t left() const { return bytes_.size() / sizeof(std::uint64_t); }

 private:
  std::string_view bytes_;
};

}  // namespace

void SamplerPlan::Enter(const Place& place) {
  place_ = place;
  if (!deals_.empty() && deals_.back().world == place.world) {
    recorded_ = deals_.back().counts[static_cast<std::size_t>(place.rank)];
  } else {
    if (!deals_.empty() && IsEmpty(deals_.back().counts)) deals_.pop_back();
    deals_.push_back({place.world, std::vector<std::uint64_t>(
                                       static_cast<std::size_t>(place.size))});
    recorded_ = 0;
  }
  DealOut();
}

void SamplerPlan::StartEpoch(std::uint64_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  deals_.clear();
  if (place_) Enter(*place_);
}

std::span<const std::size_t> SamplerPlan::Left() const {
  return std::span(share_).subspan(static_cast<std::size_t>(recorded_));
}

bool SamplerPlan::Record(std::size_t count) {
  if (count > Left().size()) return false;
  recorded_ += count;
  return true;
}

void SamplerPlan::Merge(std::span<const std::uint64_t> counts) {
  HVD_CHECK(place_ && counts.size() == deals_.back().counts.size());
  deals_.back().counts.assign(counts.begin(), counts.end());
}

std::size_t SamplerPlan::LongestLeft() const {
  HVD_CHECK(place_);
  const std::vector<std::uint64_t>& counts = deals_.back().counts;
  std::size_t longest = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::size_t share = ShareOf(dealt_, rank, counts.size());
    longest =
        std::max(longest, share - std::min<std::size_t>(share, counts[rank]));
  }
  return longest;
}

std::size_t SamplerPlan::Done() const {
  std::uint64_t done = 0;
  for (const Deal& deal : deals_) {
    done = std::accumulate(deal.counts.begin(), deal.counts.end(), done);
  }
  return static_cast<std::size_t>(done);
}

std::string SamplerPlan::Save() const {
  std::string bytes;
  Put(bytes, options_.samples);
  Put(bytes, epoch_);
  for (const Deal& deal : deals_) {
    Put(bytes, deal.world);
    Put(bytes, deal.counts.size());
    for (const std::uint64_t count : deal.counts) Put(bytes, count);
  }
  return bytes;
}

bool SamplerPlan::Load(std::string_view bytes) {
  if (bytes.size() % sizeof(std::uint64_t) != 0) return false;
  Numbers numbers(bytes);
  const auto samples = numbers.Next();
  const auto epoch = numbers.Next();
  if (!epoch || samples != options_.samples) return false;
  std::vector<Deal> deals;
  while (const auto world = numbers.Next()) {
    const auto size = numbers.Next();
    if (!size || *size == 0 || *size > numbers.left()) return false;
    Deal deal{*world, {}};
    for (std::uint64_t i = 0; i < *size; ++i) {
      deal.counts.push_back(*numbers.Next());
    }
    deals.push_back(std::move(deal));
  }
  epoch_ = *epoch;
  deals_ = std::move(deals);
  place_.reset();
  share_.clear();
  recorded_ = 0;
  return true;
}

std::vector<std::size_t> SamplerPlan::Order() const {
  std::vector<std::size_t> order(options_.samples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!options_.shuffled) return order;
  // Its numbers are laid down in the C++ standard; std::shuffle's use of them
  // is not. The product keeps neighbouring seeds and epochs apart.
  std::mt19937_64 random(options_.seed +
                         (epoch_ + 1) * std::uint64_t{0x9E3779B97F4A7C15});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random() % i]);
  }
  return order;
}

// Replays the epoch up to the world before the last.
void SamplerPlan::DealOut() {
  std::vector<std::size_t> left = Order();
  for (std::size_t i = 0; i + 1 < deals_.size(); ++i) {
    left = Without(deals_[i].counts, left);
  }
  dealt_ = left.size();
  share_.clear();
  const auto size = static_cast<std::size_t>(place_->size);
  for (auto i = static_cast<std::size_t>(place_->rank); i < left.size();
       i += size) {
    share_.push_back(left[i]);
  }
}

}  // namespace hvd
