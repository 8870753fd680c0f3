// recovery_probe: a worker that tells when its world broke, when it held the
// next one, and when it had done a first allreduce there.
//
//   recovery_probe train MS       one small allreduce every MS milliseconds
//   recovery_probe wait RANK      waits in a barrier that RANK never enters
//
// Each line is one moment, in nanoseconds of the monotonic clock, which all
// processes of a machine share: "probe up=T", and in each world
// "probe world=E rank=R size=N pid=P failed=T left=T joined=T entered=T
// first=T gap=N". `failed`: the old world's CommError; `left`: it is
// restored; `joined`: the new world is held; `entered`: its state too; `first`:
// an allreduce is done there (0 in `wait`); `gap`: from the last allreduce
// before. 0: did not happen.
//
// It trains until its stdin ends or it is killed.
#include <hvd/elastic.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

namespace {

std::int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Moments {
  std::int64_t failed = 0;
  std::int64_t left = 0;
  std::int64_t joined = 0;
  std::int64_t entered = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;  // allreduce
};

class Probe {
 public:
  // Libhvd saves the state first thing in a new world, and loads it when the
  // old one has failed.
  void Register(hvd::ElasticState& state) {
    state.RegisterScalar(step_);
    state.RegisterCustom(
        [this] {
          if (moments_.joined == 0) moments_.joined = Now();
          return std::string();
        },
        [this](std::string_view) {
          if (moments_.left == 0) moments_.left = Now();
        });
  }

  // Runs one world to its end.
  template <class Train>
  void World(const Train& train) {
    moments_.entered = Now();
    try {
      train();
    } catch (const hvd::CommError&) {
      Begin();
      moments_.failed = Now();
      throw;
    } catch (const hvd::HostsUpdated&) {
      Begin();
      throw;
    }
  }

  void Step(hvd::ElasticState& state) {
    std::int64_t value = 1;
    hvd::AllReduce(&value, 1);
    const std::int64_t now = Now();
    if (moments_.first == 0) {
      moments_.first = now;
      Tell();
    }
    moments_.last = now;
    ++step_;
    state.Commit();
  }

  void Tell() const {
    std::printf(
        "probe world=%llu rank=%d size=%d pid=%d failed=%lld left=%lld "
        "joined=%lld entered=%lld first=%lld gap=%lld\n",
        static_cast<unsigned long long>(hvd::Epoch()), hvd::Rank(), hvd::Size(),
        static_cast<int>(::getpid()), Long(moments_.failed),
        Long(moments_.left), Long(moments_.joined), Long(moments_.entered),
        Long(moments_.first),
        Long(moments_.last == 0 ? 0 : moments_.first - moments_.last));
    std::fflush(stdout);
  }

 private:
  static long long Long(std::int64_t value) { return value; }

  void Begin() { moments_ = {.last = moments_.last}; }

  std::int64_t step_ = 0;
  Moments moments_;
};

void Train(Probe& probe, hvd::ElasticState& state,
           std::chrono::milliseconds pause) {
  for (;;) {
    probe.Step(state);
    std::this_thread::sleep_for(pause);
  }
}

void Wait(Probe& probe, int absent) {
  probe.Tell();
  if (hvd::Rank() == absent && hvd::Epoch() == 1) ::pause();
  hvd::Barrier();
  // Not before this world ends: nobody trains.
  ::pause();
}

void Run(const std::string& what, int number) {
  std::printf("probe up=%lld\n", static_cast<long long>(Now()));
  std::fflush(stdout);
  Probe probe;
  hvd::ElasticState state;
  probe.Register(state);
  hvd::RunElastic(state, [&] {
    probe.World([&] {
      if (what == "train")
        Train(probe, state, std::chrono::milliseconds(number));
      Wait(probe, number);
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[1], "train") != 0 &&
                    std::strcmp(argv[1], "wait") != 0)) {
    std::fprintf(stderr, "usage: recovery_probe train MS | wait RANK\n");
    return 2;
  }
  try {
    Run(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recovery_probe: %s\n", error.what());
    return 1;
  }
  return 0;
}
