// death_probe: a worker that tells when it learnt that another one has died.
//
//   death_probe VICTIM MIB BYTES
//
// Allreduces of BYTES follow each other without a pause; rank VICTIM holds MIB
// of memory besides. Prints "probe rank=R pid=P" once all are under way, and
// "probe rank=R failed=T victim=V" when a collective has failed: T in
// nanoseconds of the monotonic clock, which all processes of a machine share, V
// the rank that is named.
#include <hvd/hvd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <vector>

namespace {

// Every page of it is there, and this process's.
void Hold(std::size_t mib) {
  if (mib == 0) return;
  void* const memory =
      ::mmap(nullptr, mib << 20U, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
}

long long NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Run(int victim, std::size_t mib, std::size_t bytes) {
  // hvdrun stops those that are left; what they know must get out first.
  std::signal(SIGTERM, SIG_IGN);
  hvd::Init();
  if (hvd::Rank() == victim) Hold(mib);
  std::vector<float> data(bytes / sizeof(float), 1.0F);
  try {
    constexpr int kUnderWay = 20;
    for (int step = 0;; ++step) {
      hvd::AllReduce(data.data(), data.size(), hvd::ReduceOp::kMax);
      if (step != kUnderWay) continue;
      std::printf("probe rank=%d pid=%d\n", hvd::Rank(),
                  static_cast<int>(::getpid()));
      std::fflush(stdout);
    }
  } catch (const hvd::CommError& error) {
    const long long failed = NowNs();
    std::printf("probe rank=%d failed=%lld victim=%d\n", hvd::Rank(), failed,
                error.rank());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: death_probe VICTIM MIB BYTES\n");
    return 2;
  }
  try {
    Run(std::atoi(argv[1]), std::strtoul(argv[2], nullptr, 10),
        std::strtoul(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "death_probe: %s\n", error.what());
    return 1;
  }
  return 0;
}
