// ring: one allreduce a step, one line a step. What tests and bug reports use.
//
//   hvdrun -np 4 ring --steps 10 --rate 5
//
// Flags: --steps N (10), --rate PER_SECOND (5; 0: no pause), --bytes N (8: how
// much each step combines).
#include <hvd/hvd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "examples/flags.h"

namespace {

struct Settings {
  std::int64_t steps = 10;
  double rate = 5;
  std::size_t elements = 1;
};

Settings ReadFlags(int argc, char** argv) {
  const examples::Flags flags(argc, argv, {"--steps", "--rate", "--bytes"}, {});
  constexpr std::int64_t kMaxSteps = 1'000'000'000;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 32;
  constexpr std::int64_t kElement = sizeof(std::int64_t);
  Settings settings;
  settings.steps = flags.Count("--steps", settings.steps, kMaxSteps);
  settings.rate = flags.Number("--rate", settings.rate);
  settings.elements = static_cast<std::size_t>(
      (flags.Count("--bytes", kElement, kMaxBytes) + kElement - 1) / kElement);
  return settings;
}

// Rank r brings (r + 1) * step, so a stale or foreign number shows.
void Step(std::int64_t step, std::vector<std::int64_t>& values) {
  const std::int64_t rank = hvd::Rank();
  const std::int64_t size = hvd::Size();
  values.assign(values.size(), (rank + 1) * step);
  hvd::AllReduce(values.data(), values.size(), hvd::ReduceOp::kSum);
  const std::int64_t expected = step * size * (size + 1) / 2;
  for (const std::int64_t value : values) {
    if (value == expected) continue;
    throw std::runtime_error("step " + std::to_string(step) + ": sum is " +
                             std::to_string(value) + ", must be " +
                             std::to_string(expected));
  }
  std::printf("rank=%d size=%d step=%lld sum=%lld host=%s\n", hvd::Rank(),
              hvd::Size(), static_cast<long long>(step),
              static_cast<long long>(expected), hvd::Host().c_str());
  std::fflush(stdout);
}

void Run(const Settings& settings) {
  hvd::Init();
  std::vector<std::int64_t> values(settings.elements);
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t step = 1; step <= settings.steps; ++step) {
    Step(step, values);
    if (settings.rate > 0 && step < settings.steps) {
      // From the beginning, so that slow steps do not lower the rate.
      const std::chrono::duration<double> due(static_cast<double>(step) /
                                              settings.rate);
      std::this_thread::sleep_until(begin + due);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Run(ReadFlags(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "ring: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {  // hvd::CommError: a peer is gone
    std::fprintf(stderr, "ring: %s\n", error.what());
    return 1;
  }
  return 0;
}
