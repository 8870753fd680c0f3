// ring: one allreduce a step, one line a step. What tests and bug reports use.
//
//   hvdrun -np 4 ring --steps 10 --rate 5
//
// In an elastic job it goes on after the last step that was committed when
// ranks die, come and go.
//
// ring --help lists the flags.
#include <hvd/elastic.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Settings {
  std::int64_t steps = 10;
  double rate = 5;
  std::int64_t bytes = 8;
};

void AddFlags(CLI::App& app, Settings& settings) {
  app.option_defaults()->always_capture_default();
  constexpr std::int64_t kMaxSteps = 1'000'000'000;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 32;
  app.add_option("--steps", settings.steps, "how many allreduces")
      ->check(CLI::Range(std::int64_t{0}, kMaxSteps));
  app.add_option("--rate", settings.rate, "steps a second; 0: no pause")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--bytes", settings.bytes, "how much each combines")
      ->check(CLI::Range(std::int64_t{0}, kMaxBytes));
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
  constexpr std::int64_t kElement = sizeof(std::int64_t);
  std::vector<std::int64_t> values(
      static_cast<std::size_t>((settings.bytes + kElement - 1) / kElement));
  std::int64_t done = 0;  // steps
  hvd::ElasticState state;
  state.RegisterScalar(done);
  hvd::RunElastic(state, [&] {
    // From the beginning of this world, so that slow steps do not lower the
    // rate.
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t first = done;
    while (done < settings.steps) {
      Step(done + 1, values);
      ++done;
      state.Commit();
      if (settings.rate > 0 && done < settings.steps) {
        const std::chrono::duration<double> due(
            static_cast<double>(done - first) / settings.rate);
        std::this_thread::sleep_until(begin + due);
      }
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Settings settings;
    CLI::App app("one allreduce a step, one line a step", "ring");
    AddFlags(app, settings);
    CLI11_PARSE(app, argc, argv);
    Run(settings);
  } catch (const std::exception& error) {  // hvd::CommError: a peer is gone
    std::fprintf(stderr, "ring: %s\n", error.what());
    return 1;
  }
  return 0;
}
