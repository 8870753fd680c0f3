// ElasticSampler: which samples of a data set this rank works on, when ranks
// come and go within an epoch.
//
//   hvd::ElasticSampler sampler(images.size(), seed);
//   state.RegisterSampler(sampler);
//   hvd::RunElastic(state, [&] {
//     for (; epoch < epochs; ++epoch) {
//       sampler.SetEpoch(epoch);
//       while (sampler.Steps(batch) > 0) {
//         const auto mine = sampler.Next(batch);  // may be empty on some ranks
//         Train(images, mine);
//         sampler.RecordBatch(mine.size());
//         state.Commit();
//       }
//     }
//   });
//
// Each epoch goes through all samples in an order of its own, which depends on
// seed and epoch only. What is left of it is dealt to the ranks of each new
// world, one by one in rank order. A sample that was recorded before a commit
// is never dealt again; what was recorded after the last commit is, if a rank
// fails. So each counts once.
//
// Threads: as hvd.h.
#pragma once

#include <hvd/hvd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hvd {

enum class SampleOrder { kShuffled, kAsIs };

class HVD_API ElasticSampler {
 public:
  // Of the samples 0 to `samples` - 1; at epoch 0.
  ElasticSampler(std::size_t samples, std::uint64_t seed,
                 SampleOrder order = SampleOrder::kShuffled);
  ~ElasticSampler();
  ElasticSampler(const ElasticSampler&) = delete;
  ElasticSampler& operator=(const ElasticSampler&) = delete;

  // Begins `epoch` with all samples; the epoch it is at goes on as it was. All
  // ranks alike.
  void SetEpoch(std::uint64_t epoch);
  std::uint64_t epoch() const;

  // The next samples of this rank, `limit` at most; empty when its share is
  // done. std::logic_error before Init.
  std::vector<std::size_t> Next(std::size_t limit);
  // The first `count` of them are done. std::invalid_argument: so many are not
  // left.
  void RecordBatch(std::size_t count);

  // How many batches of `batch` samples a rank the rank with the most to do has
  // left, as of the last commit or sync: the same on all ranks, so all can make
  // as many steps. 0: the epoch is done. std::invalid_argument: `batch` is 0.
  std::size_t Steps(std::size_t batch);
  // Of this epoch by all ranks, as of the last commit or sync.
  std::size_t done();

 private:
  friend class ElasticState;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hvd
