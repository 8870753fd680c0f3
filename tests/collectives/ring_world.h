// Worlds for tests: N ranks of one ring, as threads of this process or as
// processes of their own, over shared memory, TCP or some of both.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "collectives/communicator.h"
#include "collectives/make_communicator.h"
#include "rendezvous/membership.h"

namespace hvd::testing {

enum class Transport {
  kShared,  // all on one host
  kTcp,     // each on a host of its own: 127.0.0.1, 127.0.0.2, ...
  kMixed,   // ranks 0 and 1 on one host, 2 and 3 on the next, ...
  kUneven,  // ranks 0 to 2 on one host, 3 on the next, all others on a third
  kWoven,   // even ranks on one host, odd ones on another
};

std::string ToString(Transport transport);

struct WorldOptions {
  int size = 2;
  Transport transport = Transport::kShared;
  Duration timeout{20'000};  // --collective-timeout
  Selection table = {};
  std::size_t heap_bytes = 0;  // of each rank's heap; 0: none
};

// Thresholds so low that small arrays go all ways.
Selection SmallTable();

inline constexpr std::string_view kTestKey = "a key for tests, 32 bytes long..";
inline constexpr Duration kFormLimit{20'000};

// A listener as rank `rank` of such a world would have.
RingListener ListenAs(const WorldOptions& options, int rank);
Membership MembershipOf(int rank, std::vector<Endpoint> endpoints,
                        std::uint64_t epoch = 1);

// Runs `body` for each rank on a thread of its own; it returns what went wrong,
// or nothing. All complaints, one a line.
std::string RunThreads(const WorldOptions& options,
                       const std::function<std::string(Communicator&)>& body);
// The same with each rank's heap.
std::string RunThreadsWithHeaps(
    const WorldOptions& options,
    const std::function<std::string(Communicator&, SharedHeap&)>& body);

// What a rank of a ProcessWorld tells the test, in memory they share: it can be
// read whatever became of the rank.
struct Report {
  std::atomic<int> calls{0};  // finished so far
  std::atomic<bool> failed{false};
  std::atomic<bool> ready{false};  // free for the test
  std::atomic<bool> go{false};     // free for the test
  std::int64_t failed_at_ns = 0;   // steady clock, when the first call failed
  int failed_rank = 0;
  int failed_code = 0;
  std::array<char, 1024> text{};

  void Fail(const Communicator& communicator);
  Instant failed_at() const {
    return Instant(std::chrono::nanoseconds(failed_at_ns));
  }
};

class ProcessWorld {
 public:
  // Forks; each child joins the ring, runs `body` and exits at once.
  ProcessWorld(const WorldOptions& options,
               const std::function<void(Communicator&, Report&)>& body);
  ~ProcessWorld();  // kills and reaps whoever is left
  ProcessWorld(const ProcessWorld&) = delete;
  ProcessWorld& operator=(const ProcessWorld&) = delete;

  int size() const { return static_cast<int>(pids_.size()); }
  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  Report& report(int rank) { return reports_[rank]; }
  void Kill(int rank, int signo) const { ::kill(pid(rank), signo); }
  // Waits until `done`, at most `limit`; what `done` says.
  static bool Await(const std::function<bool()>& done, Duration limit);
  bool AwaitCalls(int calls, Duration limit);  // on every rank
  // Waits for all but `except` to exit; the number that did not.
  int AwaitExits(int except, Duration limit);

 private:
  std::vector<pid_t> pids_;
  std::vector<bool> reaped_;
  Report* reports_ = nullptr;  // mapped, shared
};

// All ranks but `except` failed, and say the same. Empty, or the differences.
std::string Disagreement(ProcessWorld& world, int except);

}  // namespace hvd::testing
