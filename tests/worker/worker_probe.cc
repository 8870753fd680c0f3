// worker_probe: a user's program, as the tests of libhvd need it. Its first
// argument names what it does; what it prints is what the tests look at.
#include <hvd/hvd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

// A forked child's leak check (in a sanitizer's build) would take for lost what
// only the threads of its parent hold.
static pid_t own_pid = 0;
extern "C" int __lsan_is_turned_off() { return ::getpid() != own_pid; }

namespace {

void Identify() {
  std::printf("rank=%d size=%d local=%d/%d cross=%d/%d host=%s epoch=%lu\n",
              hvd::Rank(), hvd::Size(), hvd::LocalRank(), hvd::LocalSize(),
              hvd::CrossRank(), hvd::CrossSize(), hvd::Host().c_str(),
              static_cast<unsigned long>(hvd::Epoch()));
}

void Collectives() {
  Identify();
  std::array<float, 3> grad{1.0F * static_cast<float>(hvd::Rank()), 1, 2};
  hvd::AllReduce(grad.data(), grad.size(), hvd::ReduceOp::kAverage);
  std::int64_t word = hvd::Rank() == hvd::Size() - 1 ? 42 : 0;
  hvd::Broadcast(&word, 1, hvd::Size() - 1);
  const std::int32_t mine = hvd::Rank();
  std::vector<std::int32_t> all(static_cast<std::size_t>(hvd::Size()));
  hvd::AllGather(&mine, all.data(), 1);
  hvd::Barrier();
  std::printf("average=%g word=%ld last=%d\n", static_cast<double>(grad[0]),
              static_cast<long>(word), all.back());
}

void Death() {
  double x = 1;
  for (int i = 0;; ++i) {
    if (i == 5 && hvd::Rank() == 1) std::raise(SIGKILL);
    try {
      hvd::AllReduce(&x, 1, hvd::ReduceOp::kMax);
    } catch (const hvd::CommError& error) {
      std::printf("failed rank=%d: %s\n", error.rank(), error.what());
      break;
    }
  }
  try {
    hvd::Barrier();
  } catch (const hvd::CommError& error) {
    std::printf("again rank=%d\n", error.rank());
  }
}

// Every call that has uneven counts, now and later, over counts that are gone
// by the time it is done: rank r has r + 1 elements for each.
void Uneven() {
  const auto rank = static_cast<std::size_t>(hvd::Rank());
  const auto size = static_cast<std::size_t>(hvd::Size());
  const std::vector<std::int32_t> mine(size * (rank + 1), hvd::Rank());
  std::vector<hvd::Work> works;
  std::array<std::vector<std::int32_t>, 4> results;
  for (auto& result : results) result.resize(size * (size + 1) / 2);
  for (const bool later : {false, true}) {
    std::vector<std::size_t> counts;
    for (std::size_t r = 0; r < size; ++r) counts.push_back(r + 1);
    const std::vector<std::size_t> sent(size, rank + 1);
    auto& gathered = results[later ? 2 : 0];
    auto& received = results[later ? 3 : 1];
    constexpr auto kType = hvd::DataType::kInt32;
    if (!later) {
      hvd::AllGather(mine.data(), gathered.data(), counts, kType);
      hvd::AllToAll(mine.data(), sent, received.data(), counts, kType);
      continue;
    }
    works.push_back(
        hvd::AllGatherAsync(mine.data(), gathered.data(), counts, kType));
    works.push_back(
        hvd::AllToAllAsync(mine.data(), sent, received.data(), counts, kType));
    works.push_back(hvd::BarrierAsync());
  }
  for (const hvd::Work& work : works) work.Wait();
  for (const auto& result : results) {
    for (const std::int32_t element : result) std::printf("%d", element);
    std::printf("\n");
  }
  try {
    hvd::AllGatherAsync(mine.data(), nullptr,
                        std::vector<std::size_t>(size + 1, 1),
                        hvd::DataType::kInt32);
  } catch (const std::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
}

// Never returns to its own caller's world: waits until hvdrun ends it.
void BusyUntilLost() {
  hvd::Barrier();
  std::printf("waiting\n");
  std::fflush(stdout);
  if (hvd::Rank() == 1) ::pause();
  try {
    hvd::Barrier();
  } catch (const hvd::CommError& error) {
    std::printf("failed rank=%d: %s\n", error.rank(), error.what());
  }
}

void Secret() {
  std::printf("key %s\n",
              std::getenv("HVD_JOB_KEY") == nullptr ? "gone" : "present");
}

void Fork() {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      hvd::Barrier();
    } catch (const std::logic_error& error) {
      std::printf("child rank=%d: %s\n", hvd::Rank(), error.what());
      std::exit(7);  // with all exit handlers, as a user's would
    }
    std::exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  hvd::Barrier();
  std::printf("child exited with %d, parent goes on\n", WEXITSTATUS(status));
}

void Report() {
  hvd::LogToDriver("line of rank " + std::to_string(hvd::Rank()));
  hvd::SetResult("result of rank " + std::to_string(hvd::Rank()));
}

void Order() {
  hvd::Shutdown();
  hvd::Shutdown();
  try {
    hvd::Rank();
  } catch (const std::logic_error& error) {
    std::printf("%s\n", error.what());
  }
  try {
    hvd::Init();
  } catch (const std::logic_error& error) {
    std::printf("%s\n", error.what());
  }
}

void Misuse() {
  const std::string huge((std::size_t{64} << 20U) + 1, 'x');
  try {
    hvd::SetResult(huge);
  } catch (const std::invalid_argument&) {
    std::printf("too large a result is refused\n");
  }
  try {
    int x = 0;
    hvd::Broadcast(&x, 1, hvd::Size());
  } catch (const std::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  own_pid = ::getpid();
  const std::map<std::string, void (*)()> scenes = {
      {"collectives", Collectives}, {"uneven", Uneven}, {"death", Death},
      {"busy", BusyUntilLost},      {"secret", Secret}, {"fork", Fork},
      {"report", Report},           {"order", Order},   {"misuse", Misuse},
      {"identify", Identify},
  };
  const auto scene = scenes.find(argc > 1 ? argv[1] : "");
  if (scene == scenes.end()) return 2;
  try {
    hvd::Init();
    hvd::Init();  // does nothing
    scene->second();
  } catch (const std::exception& error) {
    std::printf("exception: %s\n", error.what());
    return 3;
  }
  return 0;  // Shutdown happens at exit
}
