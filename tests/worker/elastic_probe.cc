// elastic_probe: an elastic training program, as the tests of libhvd need it.
// Its first argument names what it does; what it prints is what the tests look
// at.
#include <hvd/elastic.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string World() {
  return "epoch=" + std::to_string(hvd::Epoch()) +
         " rank=" + std::to_string(hvd::Rank()) +
         " size=" + std::to_string(hvd::Size());
}

// Runs `fn`, says how it ends, and lets that pass on.
void Telling(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const hvd::CommError& error) {
    Say("failed: " + std::string(error.what()));
    throw;
  } catch (const hvd::HostsUpdated& error) {
    Say("updated: " + std::string(error.what()));
    throw;
  }
}

void Run(hvd::ElasticState& state, const std::function<void()>& fn) {
  const hvd::ElasticEnd end = hvd::RunElastic(state, [&] { Telling(fn); });
  Say(end == hvd::ElasticEnd::kFinished ? "finished" : "removed");
}

// A model whose every part follows from the number of steps, so that a state of
// parts that do not belong together shows.
struct Model {
  explicit Model(hvd::ElasticState& state) {
    state.RegisterScalar(step);
    state.RegisterArray(sums.data(), sums.size());
    state.RegisterVector(history);
    state.RegisterBytes(text);
    state.RegisterCustom([this] { return std::to_string(custom); },
                         [this](std::string_view bytes) {
                           custom = std::stoll(std::string(bytes));
                         });
  }

  void Step() {
    ++step;
    const std::int64_t size = hvd::Size();
    std::int64_t sum = (hvd::Rank() + 1) * step;
    hvd::AllReduce(&sum, 1);
    sums[0] += sum / (size * (size + 1) / 2);
    history.push_back(step);
    text += 'x';
    custom = -step;
    Check();
  }

  void Check() const {
    const auto count = static_cast<std::size_t>(step);
    const bool whole = sums[0] == step * (step + 1) / 2 &&
                       history.size() == count && text.size() == count &&
                       custom == -step;
    if (!whole) throw std::runtime_error("a state of parts");
  }

  std::int64_t step = 0;
  std::vector<std::int64_t> sums = std::vector<std::int64_t>(2);
  std::vector<std::int64_t> history;
  std::string text;
  std::int64_t custom = 0;
};

// Asks for the rank all the time, as a logger's thread might.
class Asker {
 public:
  Asker()
      : thread_([this] {
          while (!stop_.load()) seen_ += hvd::Rank() + hvd::Size();
        }) {}
  ~Asker() {
    stop_.store(true);
    thread_.join();
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::int64_t seen_ = 0;
  std::thread thread_;
};

// Trains until the world of epoch `last` has made some steps.
void TrainUntil(std::uint64_t last) {
  const Asker asker;
  hvd::ElasticState state;
  Model model(state);
  Run(state, [&] {
    model.Check();
    Say("begin " + World() + " step=" + std::to_string(model.step) +
        " pid=" + std::to_string(::getpid()));
    for (int steps = 0; hvd::Epoch() < last || steps < 10; ++steps) {
      model.Step();
      state.Commit();
      if (model.step == 5) Say("committed");
    }
    Say("end " + World() + " step=" + std::to_string(model.step));
  });
}

void Train2() { TrainUntil(2); }
void Train3() { TrainUntil(3); }
void Train8() { TrainUntil(8); }

// Rank 1 never enters the second barrier of the first world.
void Stuck() {
  hvd::ElasticState state;
  Run(state, [&] {
    hvd::Barrier();
    Say("begin " + World());
    if (hvd::Epoch() > 1) return;
    if (hvd::Rank() == 1) ::pause();
    hvd::Barrier();
  });
}

// Changes are kept that were not committed, as nothing failed.
void Check() {
  hvd::ElasticState state;
  std::int64_t step = 0;
  state.RegisterScalar(step);
  Run(state, [&] {
    Say("begin " + World() + (step > 0 ? " kept" : ""));
    while (hvd::Epoch() < 2) {
      ++step;
      hvd::CheckHostUpdates();
    }
  });
}

// Each sample is counted once, though rank 1 dies in the midst of them and
// another takes its place.
void Sample() {
  constexpr std::size_t kSamples = 203;
  hvd::ElasticSampler sampler(kSamples, 42);
  std::vector<std::int64_t> counts(kSamples);
  hvd::ElasticState state;
  state.RegisterSampler(sampler);
  state.RegisterVector(counts);
  Run(state, [&] {
    Say("begin " + World() + " done=" + std::to_string(sampler.done()));
    while (sampler.Steps(4) > 0) {
      const std::vector<std::size_t> mine = sampler.Next(4);
      std::vector<std::int64_t> seen(kSamples);
      for (const std::size_t sample : mine) ++seen[sample];
      hvd::AllReduce(seen.data(), seen.size());
      for (std::size_t i = 0; i < kSamples; ++i) counts[i] += seen[i];
      sampler.RecordBatch(mine.size());
      if (hvd::Epoch() == 1 && sampler.done() > 50) {
        if (hvd::Rank() == 1) std::raise(SIGKILL);
      }
      state.Commit();
    }
    const bool once = std::all_of(counts.begin(), counts.end(),
                                  [](std::int64_t n) { return n == 1; });
    Say(once ? "each once" : "not each once");
  });
}

// Ranks that disagree would disagree again: no world mends that.
void Mismatch() {
  hvd::ElasticState state;
  Run(state, [] {
    std::int64_t x = 0;
    hvd::AllReduce(
        &x, 1, hvd::Rank() == 0 ? hvd::ReduceOp::kSum : hvd::ReduceOp::kMax);
  });
}

void Death() {
  hvd::ElasticState state;
  Run(state, [] {
    hvd::Barrier();
    if (hvd::Rank() == 1) std::raise(SIGKILL);
    hvd::Barrier();
  });
}

void Once() {
  hvd::ElasticState state;
  int runs = 0;
  Run(state, [&] {
    ++runs;
    state.Commit();
    hvd::CheckHostUpdates();
    state.Restore();
  });
  Say("runs=" + std::to_string(runs));
}

void Nested() {
  hvd::ElasticState state;
  hvd::RunElastic(state, [&] { hvd::RunElastic(state, [] {}); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> scenes = {
      {"train2", Train2}, {"train3", Train3}, {"stuck", Stuck},
      {"check", Check},   {"sample", Sample}, {"mismatch", Mismatch},
      {"death", Death},   {"once", Once},     {"nested", Nested},
      {"train8", Train8},
  };
  const auto scene = scenes.find(argc > 1 ? argv[1] : "");
  if (scene == scenes.end()) return 2;
  try {
    hvd::Init();
    scene->second();
  } catch (const std::exception& error) {
    Say("exception: " + std::string(error.what()));
    return 3;
  }
  return 0;
}
