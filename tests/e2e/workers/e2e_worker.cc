// e2e_worker: what the end-to-end tests need a worker to do, by its first word.
//
//   survive             allreduces until a peer is lost, says who and when
//   leave CODE          the same, but rank 1 exits with CODE in the middle
//   last CODE           the same, but rank 1 has left and exits when all others
//                       have
//   busy GATE           elastic; rank 1 reads GATE, a FIFO, before its fourth
//                       step, outside a collective
//   log BYTES           LogToDriver() and stdout, a text of that size
//   result CODE TEXT... SetResult(TEXT of this rank), then exit with CODE
//   secrets             looks for HVD_'s secrets before and after Init()
//   mismatch            rank 1 makes another call than the others
//   heap                allreduces for ever in memory that others reach
//   barrier             all make the same one, and say how it ended
#include <hvd/elastic.h>
#include <hvd/hvd.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

long long NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void PrintLine(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Its report must get out although hvdrun stops the survivors.
int Survive(const Words&) {
  std::signal(SIGTERM, SIG_IGN);
  hvd::Init();
  std::vector<double> values(1000, 1.0);
  try {
    for (int step = 1;; ++step) {
      hvd::AllReduce(values.data(), values.size(), hvd::ReduceOp::kAverage);
      if (step == 100) PrintLine("running");
    }
  } catch (const hvd::CommError& error) {
    PrintLine("lost=" + std::to_string(error.rank()) +
              " at=" + std::to_string(NowNs()) + " " + error.what());
  }
  return 1;
}

// Blocks until every other worker of this host has ended.
void AwaitOthers(const std::vector<std::int64_t>& pids) {
  for (const std::int64_t pid : pids) {
    if (pid == ::getpid()) continue;
    const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    pollfd ended{pidfd, POLLIN, 0};
    if (pidfd >= 0) ::poll(&ended, 1, 20'000);
  }
}

// As a Python program does: it is out of the ring before its exit handlers run.
int Last(const Words& words) {
  hvd::Init();
  const std::int64_t mine = ::getpid();
  std::vector<std::int64_t> pids(static_cast<std::size_t>(hvd::Size()));
  hvd::AllGather(&mine, pids.data(), 1);
  if (hvd::Rank() == 1) {
    hvd::Shutdown();
    AwaitOthers(pids);
    return std::stoi(words.at(0));
  }
  std::vector<double> values(1000, 1.0);
  for (;;) hvd::AllReduce(values.data(), values.size());
}

int Busy(const Words& words) {
  hvd::Init();
  hvd::ElasticState state;
  int step = 0;
  state.RegisterScalar(step);
  bool was_busy = false;
  hvd::RunElastic(state, [&] {
    for (; step < 6; state.Commit()) {
      if (hvd::Rank() == 1 && step == 3 && !was_busy) {
        was_busy = true;
        PrintLine("busy");
        std::ifstream(words.at(0)).get();
      }
      double one = 1;
      hvd::AllReduce(&one, 1);
      ++step;
      PrintLine("step=" + std::to_string(step));
    }
  });
  return 0;
}

int Leave(const Words& words) {
  std::signal(SIGTERM, SIG_IGN);  // as above
  hvd::Init();
  std::vector<double> values(1000, 1.0);
  for (int step = 1;; ++step) {
    if (hvd::Rank() == 1 && step == 100) std::exit(std::stoi(words.at(0)));
    hvd::AllReduce(values.data(), values.size());
  }
}

int Log(const Words& words) {
  hvd::Init();
  const std::string text(std::stoul(words.at(0)), 'x');
  PrintLine("printed " + text);
  hvd::LogToDriver("rank " + std::to_string(hvd::Rank()) + " " + text);
  return 0;
}

int SetResult(const Words& words) {
  hvd::Init();
  const auto rank = static_cast<std::size_t>(hvd::Rank());
  hvd::SetResult(words.at(1 + rank));
  hvd::Barrier();
  return hvd::Rank() == 0 ? std::stoi(words.at(0)) : 0;
}

// `env` sees what this process would hand on to its children.
int Secrets(const Words&) {
  PrintLine("before");
  if (std::system("env | grep '^HVD_' | cut -d= -f1") != 0) return 3;
  hvd::Init();
  PrintLine("after");
  return std::system("env | grep '^HVD_' | cut -d= -f1") == -1 ? 3 : 0;
}

int Mismatch(const Words&) {
  hvd::Init();
  std::vector<float> values(16, 1.0F);
  try {
    if (hvd::Rank() == 1) {
      hvd::Barrier();
    } else {
      hvd::AllReduce(values.data(), values.size());
    }
    PrintLine("no error");
  } catch (const hvd::CommError& error) {
    PrintLine(error.what());
  }
  return 0;
}

int Meet(const Words&) {
  hvd::Init();
  try {
    hvd::Barrier();
    PrintLine("no error");
  } catch (const hvd::CommError& error) {
    PrintLine(error.what());
  }
  return 0;
}

int ReduceInHeap(const Words&) {
  hvd::Init();
  constexpr std::size_t kCount = 1'000'000;
  auto* const values = static_cast<float*>(hvd::Alloc(kCount * sizeof(float)));
  for (int step = 1;; ++step) {
    hvd::AllReduce(values, kCount);
    if (step == 3) PrintLine("running");
  }
}

int Run(int argc, char** argv) {
  const std::map<std::string, std::function<int(const Words&)>> actions{
      {"survive", Survive},   {"leave", Leave},       {"last", Last},
      {"busy", Busy},         {"log", Log},           {"result", SetResult},
      {"secrets", Secrets},   {"mismatch", Mismatch}, {"barrier", Meet},
      {"heap", ReduceInHeap},
  };
  const Words words(argv + std::min(argc, 2), argv + argc);
  return actions.at(argc > 1 ? argv[1] : "")(words);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "e2e_worker: %s\n", error.what());
    return 2;
  }
}
