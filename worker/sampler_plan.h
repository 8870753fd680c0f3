// SamplerPlan: which samples of an epoch each rank of a world works on, and
// which are done.
//
// What is done is kept as the history of the epoch: for each world, how many
// samples of its share each rank has done. Shares follow from the seed, so a
// few numbers stand for any amount of samples.
//
// Pure, and the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {

class SamplerPlan {
 public:
  struct Options {
    std::size_t samples = 0;
    std::uint64_t seed = 0;
    bool shuffled = true;
  };
  // A rank in a world; worlds are told apart by their epoch.
  struct Place {
    std::uint64_t world = 0;
    int rank = 0;
    int size = 1;
  };

  explicit SamplerPlan(const Options& options) : options_(options) {}

  // Deals what is left to the ranks of that world, unless it was dealt to it
  // already.
  void Enter(const Place& place);
  bool entered() const { return place_.has_value(); }
  // Another epoch than this one begins with all samples.
  void StartEpoch(std::uint64_t epoch);
  std::uint64_t epoch() const { return epoch_; }

  // This rank's share without what it has recorded.
  std::span<const std::size_t> Left() const;
  // False: so many are not left.
  bool Record(std::size_t count);
  // What this rank has recorded of its share.
  std::uint64_t recorded() const { return recorded_; }
  // counts[rank]: what each rank has recorded of its share.
  void Merge(std::span<const std::uint64_t> counts);

  // As of the last Merge: what the rank with the most to do has left, and what
  // is done altogether.
  std::size_t LongestLeft() const;
  std::size_t Done() const;

  // All but the place. Load forgets what was not merged when it was saved.
  std::string Save() const;
  // False, and nothing happens: these are no bytes of a plan for the same
  // samples.
  bool Load(std::string_view bytes);

 private:
  struct Deal {
    std::uint64_t world = 0;
    std::vector<std::uint64_t> counts;  // by rank
  };

  std::vector<std::size_t> Order() const;
  void DealOut();

  Options options_;
  std::uint64_t epoch_ = 0;
  std::vector<Deal> deals_;  // of this epoch; the last is of place_'s world
  std::optional<Place> place_;
  std::size_t dealt_ = 0;  // samples in the last deal, to all ranks
  std::vector<std::size_t> share_;
  std::uint64_t recorded_ = 0;
};

}  // namespace hvd
