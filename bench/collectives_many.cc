// collectives_many: what grouping and not waiting save.
//
// usage: hvdrun -np 2 collectives_many
#include <hvd/hvd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

// The least of several times that `work` takes on the slowest rank.
template <class Work>
double Least(int rounds, const Work& work) {
  double least = 1e12;
  for (int i = 0; i < rounds; ++i) {
    hvd::Barrier();
    const hvd::Instant begin = hvd::SteadyClock().Now();
    work();
    double took = Microseconds(hvd::SteadyClock().Now() - begin).count();
    hvd::AllReduce(&took, 1, hvd::ReduceOp::kMax);
    least = std::min(least, took);
  }
  return least;
}

void Grouped() {
  constexpr std::size_t kArrays = 1000;
  constexpr std::size_t kCount = 256;  // 1 KiB
  std::vector<std::vector<float>> data(kArrays, std::vector<float>(kCount));
  std::vector<hvd::Tensor> tensors;
  for (auto& array : data) {
    tensors.push_back({array.data(), array.data(), kCount});
  }
  const double one_by_one = Least(20, [&] {
    for (auto& array : data) hvd::AllReduce(array.data(), kCount);
  });
  const auto before = hvd::CountersOf(hvd::Call::kAllReduce).operations;
  hvd::AllReduce(tensors, hvd::DataType::kFloat32);
  const auto transfers =
      hvd::CountersOf(hvd::Call::kAllReduce).operations - before;
  const double grouped =
      Least(20, [&] { hvd::AllReduce(tensors, hvd::DataType::kFloat32); });
  if (hvd::Rank() != 0) return;
  std::printf(
      "1000 x 1 KiB: one by one %.0f us, grouped %.0f us in %lu "
      "transfers: %.1f times\n",
      one_by_one, grouped, static_cast<unsigned long>(transfers),
      one_by_one / grouped);
}

void WithoutWaiting() {
  std::vector<float> data(std::size_t{16} << 20U, 1.0F);  // 64 MiB
  const double reduce =
      Least(5, [&] { hvd::AllReduce(data.data(), data.size()); });
  const auto compute = Microseconds(reduce);
  double start = 1e12;
  const double both = Least(5, [&] {
    const hvd::Instant begin = hvd::SteadyClock().Now();
    const hvd::Work work = hvd::AllReduceAsync(data.data(), data.size());
    start =
        std::min(start, Microseconds(hvd::SteadyClock().Now() - begin).count());
    std::this_thread::sleep_for(compute);
    work.Wait();
  });
  if (hvd::Rank() != 0) return;
  std::printf(
      "64 MiB beside as much sleep: %.0f us + %.0f us alone, %.0f us "
      "together (%.2f of the sum), start %.0f us\n",
      reduce, reduce, both, both / (2 * reduce), start);
}

}  // namespace

int main() {
  hvd::Init();
  Grouped();
  WithoutWaiting();
}
