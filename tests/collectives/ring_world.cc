#include "tests/collectives/ring_world.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "base/check.h"

namespace hvd::testing {
namespace {

constexpr Duration kTick{1};

std::size_t Index(int rank) { return static_cast<std::size_t>(rank); }

int HostOf(Transport transport, int rank) {
  switch (transport) {
    case Transport::kShared:
      return 0;
    case Transport::kTcp:
      return rank;
    case Transport::kMixed:
      return rank / 2;
    case Transport::kUneven:
      return rank < 3 ? 0 : rank == 3 ? 1 : 2;
    case Transport::kWoven:
      return rank % 2;
  }
  HVD_CHECK(false);
}

RingOptions OptionsOf(const WorldOptions& options,
                      const SharedHeap* heap = nullptr) {
  return {.collective_timeout = options.timeout,
          .deadline = SteadyClock().Now() + kFormLimit,
          .table = options.table,
          .heap = heap};
}

// An endpoint in a form that a pipe takes in one piece.
struct FlatEndpoint {
  std::array<char, 64> address{};
  std::array<char, 64> local_name{};
  std::array<char, 128> host_key{};
  std::uint16_t port = 0;
};

template <std::size_t N>
void Put(std::array<char, N>& out, const std::string& text) {
  HVD_CHECK(text.size() < N);
  std::copy(text.begin(), text.end(), out.begin());
}

FlatEndpoint Flatten(const Endpoint& endpoint) {
  FlatEndpoint flat;
  Put(flat.address, endpoint.address);
  Put(flat.local_name, endpoint.local_name);
  Put(flat.host_key, endpoint.host_key);
  flat.port = endpoint.port;
  return flat;
}

Endpoint Unflatten(const FlatEndpoint& flat) {
  return {flat.address.data(), flat.port, flat.local_name.data(),
          flat.host_key.data()};
}

template <class T>
void WriteAll(int fd, const T& value) {
  HVD_CHECK(::write(fd, &value, sizeof(value)) == ssize_t{sizeof(value)});
}

template <class T>
T ReadAll(int fd) {
  T value;
  HVD_CHECK(::recv(fd, &value, sizeof(value), MSG_WAITALL) ==
            ssize_t{sizeof(value)});
  return value;
}

// The child's side: exchange endpoints through the parent, join, run.
void LiveAsRank(const WorldOptions& options, int rank, int to_parent,
                const std::function<void(Communicator&, Report&)>& body,
                Report& report) {
  const RingListener listener = ListenAs(options, rank);
  WriteAll(to_parent, Flatten(listener.endpoint()));
  std::vector<Endpoint> endpoints;
  for (int i = 0; i < options.size; ++i) {
    endpoints.push_back(Unflatten(ReadAll<FlatEndpoint>(to_parent)));
  }
  Result<std::unique_ptr<Communicator>> made =
      MakeCommunicator(MembershipOf(rank, std::move(endpoints)), kTestKey,
                       listener, OptionsOf(options));
  HVD_CHECK(made.ok());
  body(*made.value(), report);
}

}  // namespace

std::string ToString(Transport transport) {
  switch (transport) {
    case Transport::kShared:
      return "shared memory";
    case Transport::kTcp:
      return "tcp";
    case Transport::kMixed:
      return "both";
    case Transport::kUneven:
      return "both, unevenly";
    case Transport::kWoven:
      return "both, in turn";
  }
  HVD_CHECK(false);
}

RingListener ListenAs(const WorldOptions& options, int rank) {
  const int host = HostOf(options.transport, rank);
  Result<RingListener> listener =
      RingListener::Listen("127.0.0." + std::to_string(host + 1),
                           HostKeyOf("host" + std::to_string(host)));
  HVD_CHECK(listener.ok());
  return std::move(listener).value();
}

Membership MembershipOf(int rank, std::vector<Endpoint> endpoints,
                        std::uint64_t epoch) {
  Membership membership;
  membership.world.epoch = Epoch{epoch};
  membership.rank = rank;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    membership.world.workers.push_back({"host", static_cast<int>(i)});
  }
  membership.endpoints = std::move(endpoints);
  return membership;
}

Selection SmallTable() {
  return {.one_shot = 256,
          .chunk = 4096,
          .block = 1024,
          .stream = 10'000,
          .doubling = 1000,
          .slab = 65'536};
}

std::string RunThreads(const WorldOptions& options,
                       const std::function<std::string(Communicator&)>& body) {
  return RunThreadsWithHeaps(
      options, [&](Communicator& c, SharedHeap&) { return body(c); });
}

std::string RunThreadsWithHeaps(
    const WorldOptions& options,
    const std::function<std::string(Communicator&, SharedHeap&)>& body) {
  std::vector<RingListener> listeners;
  std::vector<Endpoint> endpoints;
  std::vector<std::unique_ptr<SharedHeap>> heaps;
  for (int rank = 0; rank < options.size; ++rank) {
    listeners.push_back(ListenAs(options, rank));
    endpoints.push_back(listeners.back().endpoint());
    Result<std::unique_ptr<SharedHeap>> heap =
        SharedHeap::Create(std::max<std::size_t>(options.heap_bytes, 1));
    HVD_CHECK(heap.ok());
    heaps.push_back(std::move(heap).value());
  }
  std::vector<std::string> complaints(Index(options.size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.size; ++rank) {
    threads.emplace_back([&, rank] {
      SharedHeap& heap = *heaps[Index(rank)];
      Result<std::unique_ptr<Communicator>> made = MakeCommunicator(
          MembershipOf(rank, endpoints), kTestKey, listeners[Index(rank)],
          OptionsOf(options, options.heap_bytes > 0 ? &heap : nullptr));
      complaints[Index(rank)] =
          made.ok() ? body(*made.value(), heap) : made.error().message();
    });
  }
  std::string all;
  for (int rank = 0; rank < options.size; ++rank) {
    threads[Index(rank)].join();
    const std::string& complaint = complaints[Index(rank)];
    if (!complaint.empty()) {
      all += "rank " + std::to_string(rank) + ": " + complaint + '\n';
    }
  }
  return all;
}

void Report::Fail(const Communicator& communicator) {
  const CommFailure* failure = communicator.failure();
  HVD_CHECK(failure != nullptr);
  failed_at_ns =
      std::chrono::nanoseconds(SteadyClock().Now().time_since_epoch()).count();
  failed_rank = failure->rank;
  failed_code = static_cast<int>(failure->code);
  std::copy_n(failure->text.begin(),
              std::min(failure->text.size(), text.size() - 1), text.begin());
  failed.store(true);
}

ProcessWorld::ProcessWorld(
    const WorldOptions& options,
    const std::function<void(Communicator&, Report&)>& body)
    : reaped_(Index(options.size), false) {
  void* const memory =
      ::mmap(nullptr, sizeof(Report) * Index(options.size),
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HVD_CHECK(memory != MAP_FAILED);
  reports_ = static_cast<Report*>(memory);
  std::vector<UniqueFd> children;
  for (int rank = 0; rank < options.size; ++rank) {
    new (reports_ + rank) Report;
    std::array<int, 2> ends{};
    HVD_CHECK(
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    UniqueFd mine(ends[0]);
    UniqueFd theirs(ends[1]);
    const pid_t pid = ::fork();
    HVD_CHECK(pid >= 0);
    if (pid == 0) {
      mine.Reset();
      children.clear();
      LiveAsRank(options, rank, theirs.get(), body, reports_[rank]);
      ::_exit(0);
    }
    pids_.push_back(pid);
    children.push_back(std::move(mine));
  }
  std::vector<FlatEndpoint> endpoints;
  for (const UniqueFd& child : children) {
    endpoints.push_back(ReadAll<FlatEndpoint>(child.get()));
  }
  for (const UniqueFd& child : children) {
    for (const FlatEndpoint& endpoint : endpoints) {
      WriteAll(child.get(), endpoint);
    }
  }
}

ProcessWorld::~ProcessWorld() {
  for (std::size_t i = 0; i < pids_.size(); ++i) {
    if (reaped_[i]) continue;
    ::kill(pids_[i], SIGKILL);
    ::waitpid(pids_[i], nullptr, 0);
  }
  ::munmap(reports_, sizeof(Report) * pids_.size());
}

bool ProcessWorld::Await(const std::function<bool()>& done, Duration limit) {
  const Instant deadline = SteadyClock().Now() + limit;
  while (!done()) {
    if (SteadyClock().Now() >= deadline) return false;
    ::poll(nullptr, 0, static_cast<int>(kTick.count()));
  }
  return true;
}

bool ProcessWorld::AwaitCalls(int calls, Duration limit) {
  return Await(
      [&] {
        for (int rank = 0; rank < size(); ++rank) {
          if (report(rank).calls.load() < calls) return false;
        }
        return true;
      },
      limit);
}

int ProcessWorld::AwaitExits(int except, Duration limit) {
  int left = 0;
  Await(
      [&] {
        left = 0;
        for (int rank = 0; rank < size(); ++rank) {
          if (rank == except || reaped_[Index(rank)]) continue;
          if (::waitpid(pid(rank), nullptr, WNOHANG) == pid(rank)) {
            reaped_[Index(rank)] = true;
          } else {
            ++left;
          }
        }
        return left == 0;
      },
      limit);
  return left;
}

std::string Disagreement(ProcessWorld& world, int except) {
  std::string text;
  const Report* first = nullptr;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank == except) continue;
    const Report& report = world.report(rank);
    if (!report.failed.load()) {
      text += "rank " + std::to_string(rank) + " did not fail\n";
    } else if (first == nullptr) {
      first = &report;
    } else if (report.failed_rank != first->failed_rank ||
               report.failed_code != first->failed_code ||
               report.text != first->text) {
      text += "rank " + std::to_string(rank) + " says: " + report.text.data() +
              "\n  while another says: " + first->text.data() + '\n';
    }
  }
  return text;
}

}  // namespace hvd::testing
