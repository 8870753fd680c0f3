// Shares: how long the part of each rank is, in an array made of all ranks'
// parts in rank order.
//
// Pure; what it refers to outlives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace hvd {

class Shares {
 public:
  // `count` elements for each of `ranks`.
  Shares(std::size_t count, int ranks) : each_(count), ranks_(ranks) {}
  // counts[rank] elements.
  explicit Shares(std::span<const std::size_t> counts)
      : counts_(counts), ranks_(static_cast<int>(counts.size())) {}

  int ranks() const { return ranks_; }
  bool even() const { return counts_.empty(); }
  std::span<const std::size_t> counts() const { return counts_; }
  std::size_t Count(int rank) const {
    return even() ? each_ : counts_[static_cast<std::size_t>(rank)];
  }
  std::size_t Begin(int rank) const {
    const auto before = static_cast<std::size_t>(rank);
    if (even()) return each_ * before;
    return std::accumulate(counts_.begin(),
                           counts_.begin() + static_cast<long>(before),
                           std::size_t{0});
  }
  std::size_t Total() const { return Begin(ranks_); }
  std::size_t Longest() const {
    if (even()) return each_;
    return *std::max_element(counts_.begin(), counts_.end());
  }

 private:
  std::span<const std::size_t> counts_;
  std::size_t each_ = 0;
  int ranks_;
};

}  // namespace hvd
