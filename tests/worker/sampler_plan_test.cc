#include "worker/sampler_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace hvd {
namespace {

// A job: one plan a rank, that train, commit, fail and come anew. counts[i] is
// how often sample i is in the model that rank 0 has.
class Ranks {
 public:
  Ranks(std::size_t samples, int size, std::uint64_t seed = 7)
      : options_{samples, seed, true},
        counts_(samples),
        saved_counts_(samples) {
    plans_.assign(static_cast<std::size_t>(size), SamplerPlan(options_));
    NewWorld();
  }

  // Survivors and newcomers meet; all get what the oldest had committed.
  void Change(const std::vector<std::size_t>& survivors, int newcomers) {
    std::vector<SamplerPlan> next;
    for (const std::size_t rank : survivors) next.push_back(plans_[rank]);
    for (int i = 0; i < newcomers; ++i) next.emplace_back(options_);
    for (SamplerPlan& plan : next) REQUIRE(plan.Load(saved_));
    plans_ = std::move(next);
    counts_ = saved_counts_;
    NewWorld();
  }

  // Each rank works on `batch` samples or what it has left.
  void Step(std::size_t batch) {
    for (SamplerPlan& plan : plans_) {
      const auto left = plan.Left();
      const std::size_t count = std::min(batch, left.size());
      for (const std::size_t sample : left.first(count)) ++counts_[sample];
      REQUIRE(plan.Record(count));
    }
  }

  void Commit() {
    std::vector<std::uint64_t> recorded;
    for (const SamplerPlan& plan : plans_) recorded.push_back(plan.recorded());
    for (SamplerPlan& plan : plans_) plan.Merge(recorded);
    Save();
  }

  void StartEpoch(std::uint64_t epoch) {
    for (SamplerPlan& plan : plans_) plan.StartEpoch(epoch);
    std::fill(counts_.begin(), counts_.end(), 0);
    Save();
  }

  bool AllOnce() const {
    return std::all_of(counts_.begin(), counts_.end(),
                       [](int count) { return count == 1; });
  }
  SamplerPlan& operator[](std::size_t rank) { return plans_[rank]; }
  std::size_t size() const { return plans_.size(); }

 private:
  void NewWorld() {
    ++world_;
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      plans_[rank].Enter(
          {world_, static_cast<int>(rank), static_cast<int>(plans_.size())});
    }
    Save();
  }
  void Save() {
    saved_ = plans_[0].Save();
    saved_counts_ = counts_;
  }

  SamplerPlan::Options options_;
  std::uint64_t world_ = 0;
  std::vector<SamplerPlan> plans_;
  std::vector<int> counts_;
  std::string saved_;
  std::vector<int> saved_counts_;
};

std::vector<std::size_t> Left(const SamplerPlan& plan) {
  return {plan.Left().begin(), plan.Left().end()};
}

}  // namespace

TEST_CASE("SamplerPlan deals every sample to one rank, evenly", "[worker]") {
  Ranks ranks(10, 3);
  std::set<std::size_t> seen;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(ranks[rank].Left().size() == (rank == 0 ? 4 : 3));
    seen.insert(ranks[rank].Left().begin(), ranks[rank].Left().end());
    CHECK(ranks[rank].LongestLeft() == 4);
  }
  CHECK(seen.size() == 10);
}

TEST_CASE("SamplerPlan deals one by one in rank order, in any world",
          "[worker]") {
  // A batch of the whole job is then the next part of the epoch's order.
  Ranks ranks(12, 3);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 12; ++i) {
    order.push_back(Left(ranks[i % 3])[i / 3]);
  }
  ranks.Step(2);
  ranks.Commit();
  ranks.Change({0, 2}, 0);
  for (std::size_t i = 6; i < 12; ++i) {
    CHECK(Left(ranks[i % 2])[(i - 6) / 2] == order[i]);
  }
}

TEST_CASE("SamplerPlan has an order for each seed and epoch", "[worker]") {
  const auto order = [](std::uint64_t seed, std::uint64_t epoch) {
    SamplerPlan plan({.samples = 50, .seed = seed});
    plan.StartEpoch(epoch);
    plan.Enter({1, 0, 1});
    return Left(plan);
  };
  CHECK(order(1, 0) == order(1, 0));
  CHECK(order(1, 0) != order(2, 0));
  CHECK(order(1, 0) != order(1, 1));
  CHECK(order(2, 0) != order(1, 1));
  SamplerPlan as_is({.samples = 3, .shuffled = false});
  as_is.Enter({1, 0, 1});
  CHECK(Left(as_is) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("SamplerPlan refuses to record more than is left", "[worker]") {
  SamplerPlan plan({.samples = 3});
  plan.Enter({1, 0, 1});
  CHECK(plan.Record(2));
  CHECK_FALSE(plan.Record(2));
  CHECK(plan.Record(1));
  CHECK(plan.Left().empty());
}

TEST_CASE("SamplerPlan begins an epoch anew and lets its own go on",
          "[worker]") {
  Ranks ranks(20, 2);
  ranks.Step(5);
  ranks.Commit();
  ranks.StartEpoch(0);
  CHECK(ranks[0].Done() == 10);
  CHECK(ranks[1].LongestLeft() == 5);
  ranks.StartEpoch(1);
  CHECK(ranks[0].Done() == 0);
  CHECK(ranks[1].LongestLeft() == 10);
}

TEST_CASE("SamplerPlan deals what is left when ranks leave and come",
          "[worker]") {
  Ranks ranks(100, 4);
  ranks.Step(10);
  ranks.Commit();
  ranks.Step(3);  // lost
  ranks.Change({0, 2}, 1);
  CHECK(ranks[2].Done() == 40);
  CHECK(ranks[0].LongestLeft() == 20);
  while (ranks[0].LongestLeft() > 0) {
    ranks.Step(7);
    ranks.Commit();
  }
  CHECK(ranks.AllOnce());
  CHECK(ranks[1].Done() == 100);
}

TEST_CASE("SamplerPlan takes no bytes of other samples, or of no plan",
          "[worker]") {
  Ranks ranks(100, 2);
  ranks.Step(1);
  ranks.Commit();
  const std::string bytes = ranks[0].Save();
  SamplerPlan same({.samples = 100});
  CHECK(same.Load(bytes));
  CHECK(same.Done() == 2);
  SamplerPlan other({.samples = 99});
  CHECK_FALSE(other.Load(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (size == 16) continue;  // an epoch that no world has begun
    CHECK_FALSE(same.Load(bytes.substr(0, size)));
  }
  CHECK_FALSE(same.Load(bytes + std::string(16, '\xff')));
  CHECK(same.Done() == 2);
}

TEST_CASE("SamplerPlan counts each sample once whatever happens", "[worker]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    Ranks ranks(random() % 60, 1 + static_cast<int>(random() % 4), seed);
    for (std::uint64_t epoch = 1; epoch <= 2; ++epoch) {
      int steps = 0;
      while (ranks[0].LongestLeft() > 0) {
        ranks.Step(random() % 5);
        if (random() % 2 == 0) ranks.Commit();
        // Failures end, else nothing would ever be done.
        if (++steps < 40 && random() % 4 == 0) {
          std::vector<std::size_t> survivors;
          for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            if (random() % 3 != 0) survivors.push_back(rank);
          }
          const int least = survivors.empty() ? 1 : 0;
          ranks.Change(survivors, least + static_cast<int>(random() % 2));
        }
      }
      REQUIRE(ranks.AllOnce());
      ranks.StartEpoch(epoch);
    }
  }
}

}  // namespace hvd
