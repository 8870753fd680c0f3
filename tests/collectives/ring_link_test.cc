#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random_bytes.h"
#include "base/socket_address.h"
#include "collectives/abstract_address.h"
#include "collectives/doorbell.h"
#include "collectives/link.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

UniqueFd Connect(const SocketAddress& address) {
  UniqueFd fd(
      ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(fd.valid());
  REQUIRE(::connect(fd.get(), address.get(), address.size) == 0);
  return fd;
}

SocketAddress AddressFor(const RingListener& listener, Transport transport) {
  const Endpoint& endpoint = listener.endpoint();
  if (transport == Transport::kShared) {
    return AbstractAddress(endpoint.local_name);
  }
  const auto address = ParseSocketAddress(endpoint.address, endpoint.port);
  REQUIRE(address);
  return *address;
}

// Two ranks, of which the second may hold another key or live in another epoch.
struct Pair {
  explicit Pair(Transport transport)
      : options{.size = 2, .transport = transport} {
    for (int rank = 0; rank < 2; ++rank) {
      listeners.push_back(ListenAs(options, rank));
      endpoints.push_back(listeners.back().endpoint());
    }
  }
  Result<std::unique_ptr<Communicator>> Make(int rank, Duration limit,
                                             std::string_view key = kTestKey,
                                             std::uint64_t epoch = 1,
                                             int cancel_fd = -1) {
    return MakeCommunicator(MembershipOf(rank, endpoints, epoch), key,
                            listeners[static_cast<std::size_t>(rank)],
                            {.collective_timeout = Duration{10'000},
                             .deadline = SteadyClock().Now() + limit,
                             .cancel_fd = cancel_fd});
  }
  // Both at once; what each says, "" for a ring.
  std::vector<std::string> MakeBoth(Duration limit, std::string_view key1,
                                    std::uint64_t epoch1) {
    std::vector<std::string> said(2);
    const auto say = [](const Result<std::unique_ptr<Communicator>>& made) {
      return made.ok() ? "" : made.error().message();
    };
    std::thread other([&] { said[1] = say(Make(1, limit, key1, epoch1)); });
    said[0] = say(Make(0, limit));
    other.join();
    return said;
  }

  WorldOptions options;
  std::vector<RingListener> listeners;
  std::vector<Endpoint> endpoints;
};

std::set<std::string> NamesIn(const char* path) {
  std::set<std::string> names;
  DIR* const dir = ::opendir(path);
  REQUIRE(dir != nullptr);
  while (const dirent* entry = ::readdir(dir)) names.insert(entry->d_name);
  ::closedir(dir);
  return names;
}

std::size_t OpenFds() { return NamesIn("/proc/self/fd").size(); }

}  // namespace

TEST_CASE("A neighbour with another key or of another epoch is refused",
          "[collectives]") {
  constexpr Duration kShort{300};
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    Pair pair(transport);
    const auto wrong_key = pair.MakeBoth(kShort, "another key", 1);
    CHECK(wrong_key[0].find("cannot reach rank 1 ") == 0);
    CHECK(wrong_key[0].find("it does not hold this job's key") !=
          std::string::npos);
    CHECK(wrong_key[1].find("cannot reach rank 0 ") == 0);
    const auto wrong_epoch = pair.MakeBoth(kShort, kTestKey, 2);
    CHECK(wrong_epoch[0].find("it is not in this world") != std::string::npos);
    // The listeners are none the worse for it.
    CHECK(pair.MakeBoth(kFormLimit, kTestKey, 1) ==
          std::vector<std::string>{"", ""});
  }
}

TEST_CASE("Forming a ring can be given up, and the next one forms",
          "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    Pair pair(transport);
    const Doorbell cancel;
    std::optional<Error> said;
    std::thread forming([&] {
      auto made = pair.Make(0, kFormLimit, kTestKey, 7, cancel.fd());
      if (!made.ok()) said = made.error();
    });
    // Its call to rank 1 waits there unanswered, as if rank 1 were busy.
    const RingListener& busy = pair.listeners[1];
    const bool shared = transport == Transport::kShared;
    pollfd calls{shared ? busy.local_fd() : busy.tcp_fd(), POLLIN, 0};
    CHECK(::poll(&calls, 1, 10'000) == 1);
    const Instant begin = SteadyClock().Now();
    cancel.Ring();
    forming.join();
    CHECK(SteadyClock().Now() - begin < Duration{2000});
    REQUIRE(said);
    CHECK(said->code() == ErrorCode::kCancelled);
    // What it left in the backlog is turned away.
    CHECK(pair.MakeBoth(kFormLimit, kTestKey, 1) ==
          std::vector<std::string>{"", ""});
  }
}

TEST_CASE("Strangers on the listener neither join nor hold up the ring",
          "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    Pair pair(transport);
    std::vector<UniqueFd> strangers;
    for (const RingListener& listener : pair.listeners) {
      const SocketAddress address = AddressFor(listener, transport);
      for (int i = 0; i < 100; ++i) {
        strangers.push_back(Connect(address));
        // Some say nothing, some start a hello, some talk nonsense.
        const std::string bytes = i % 3 == 0   ? ""
                                  : i % 3 == 1 ? "HVDRING1"
                                               : RandomBytes(200);
        if (!bytes.empty()) {
          CHECK(::send(strangers.back().get(), bytes.data(), bytes.size(),
                       MSG_NOSIGNAL) > 0);
        }
      }
    }
    const Instant start = SteadyClock().Now();
    CHECK(pair.MakeBoth(kFormLimit, kTestKey, 1) ==
          std::vector<std::string>{"", ""});
    CHECK(SteadyClock().Now() - start < Duration{3000});
  }
}

TEST_CASE("Without its neighbour a ring ends at the deadline and says so",
          "[collectives]") {
  Pair pair(Transport::kTcp);
  const Instant start = SteadyClock().Now();
  const auto made = pair.Make(0, Duration{200});
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code() == ErrorCode::kTimeout);
  CHECK(made.error().message().find("cannot reach rank 1 at 127.0.0.2 port ") ==
        0);
  CHECK(SteadyClock().Now() - start < Duration{2000});
}

TEST_CASE("Rings leave no descriptor, thread or file behind", "[collectives]") {
  const auto shm = NamesIn("/dev/shm");
  const auto tmp = NamesIn("/tmp");
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    // After the first ring: a sanitizer has its own thread by then.
    std::size_t fds = 0;
    std::size_t threads = 0;
    for (int round = 0; round < 5; ++round) {
      CHECK(
          RunThreads({.size = 4, .transport = transport}, [](Communicator& c) {
            return c.Barrier().ok() ? "" : "failed";
          }) == "");
      if (round == 0) fds = OpenFds();
      if (round == 0) threads = NamesIn("/proc/self/task").size();
    }
    CHECK(OpenFds() == fds);
    CHECK(NamesIn("/proc/self/task").size() == threads);
  }
  CHECK(NamesIn("/dev/shm") == shm);
  for (const std::string& name : NamesIn("/tmp")) {
    // Others may write there; nothing of ours is called so.
    if (tmp.count(name) == 0) CHECK(name.find("hvd-ring") == std::string::npos);
  }
}

TEST_CASE("A listener refuses an address that is none of this machine's",
          "[collectives]") {
  CHECK(RingListener::Listen("localhost", "k").error().message() ==
        "ring listener: localhost: not an IP address");
  CHECK(RingListener::Listen("192.0.2.1", "k")
            .error()
            .message()
            .find("ring listener on 192.0.2.1: ") == 0);
}

}  // namespace hvd
