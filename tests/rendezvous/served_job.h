// ServedJob: a RendezvousServer on a loop, with what its handlers heard, and
// clients that block on threads of their own while the loop is pumped here.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "rendezvous/rendezvous_client.h"
#include "rendezvous/rendezvous_server.h"

namespace hvd::testing {

inline constexpr Duration kPatience{100'000};

inline Instant In(Duration delay) { return SteadyClock().Now() + delay; }

inline Endpoint EndpointAt(std::uint16_t port) {
  return {"127.0.0.1", port, "ring-" + std::to_string(port), "host-key"};
}

// `count` workers of one host.
inline World WorldOf(std::uint64_t epoch, int count,
                     const std::string& host = "a") {
  World world;
  world.epoch = Epoch{epoch};
  for (int slot = 0; slot < count; ++slot)
    world.workers.push_back({host, slot});
  return world;
}

class ServedJob {
 public:
  explicit ServedJob(HttpLimits limits = {},
                     const std::string& address = "127.0.0.1",
                     std::uint16_t port = 0, bool elastic = false) {
    RendezvousOptions options;
    options.elastic = elastic;
    options.ports = {port, port};
    options.bind_address = address;
    options.job_key = kKey;
    options.push = HostsPush{kToken, kMaxPush};
    options.limits = limits;
    auto listening = RendezvousServer::Listen(
        loop, options,
        {.on_ready = [this](const WorkerId& worker,
                            Epoch after) { ready.emplace_back(worker, after); },
         .on_heard =
             [this](const WorkerId& worker, Epoch epoch,
                    std::uint64_t operations) {
               heard.push_back({worker, epoch, operations});
             },
         .on_blame =
             [this](const WorkerId& worker, Epoch epoch, int rank) {
               blames.push_back({worker, epoch, rank});
             },
         .on_log = [this](
                       const WorkerId& worker,
                       std::string text) { logs.emplace_back(worker, text); },
         .on_result =
             [this](const WorkerId& worker, std::string bytes) {
               results.emplace_back(worker, std::move(bytes));
             },
         .on_refused = [this](std::string line) { refused.push_back(line); },
         .on_hosts =
             [this](const std::string& text) {
               pushed.push_back(text);
               return push_answer;
             },
         .on_misplaced =
             [this](const WorkerId& worker) { misplaced.push_back(worker); }});
    REQUIRE(listening.ok());
    server = std::move(listening).value();
  }

  RendezvousClient Client(WorkerId worker, const std::string& key = kKey,
                          LaunchId launch = {}) {
    return {{"127.0.0.1", server->port()}, key, std::move(worker), launch};
  }

  template <class Call>
  auto Start(Call call) {
    return std::async(std::launch::async, std::move(call));
  }

  // What `call` returns, run on another thread while the loop runs here.
  template <class Call>
  auto Run(Call call) {
    return Await(Start(std::move(call)));
  }

  template <class T>
  T Await(std::future<T> future) {
    const Instant end = In(kPatience);
    // In slices: that the other thread is done is no event of the loop.
    while (!IsReady(future) && loop.Now() < end) {
      loop.RunUntil([&] { return IsReady(future); }, Duration(2));
    }
    CHECK(IsReady(future));
    return future.get();
  }

  template <class T>
  static bool IsReady(std::future<T>& future) {
    return future.wait_for(std::chrono::seconds(0)) ==
           std::future_status::ready;
  }

  bool Until(const std::function<bool()>& done) {
    return loop.RunUntil(done, kPatience);
  }

  static inline const std::string kKey = std::string(32, 'k');
  static inline const std::string kToken = std::string(64, 't');
  static constexpr std::size_t kMaxPush = 100'000;

  EventLoop loop;
  std::vector<std::pair<WorkerId, Epoch>> ready;
  struct Blamed {
    WorkerId by;
    Epoch epoch{};
    int rank = 0;
    bool operator==(const Blamed&) const = default;
  };
  std::vector<Blamed> blames;
  struct Heard {
    WorkerId worker;
    Epoch epoch{};
    std::uint64_t operations = 0;
    bool operator==(const Heard&) const = default;
  };
  std::vector<Heard> heard;
  std::vector<std::pair<WorkerId, std::string>> logs;
  std::vector<std::pair<WorkerId, std::string>> results;
  std::vector<std::string> refused;
  std::vector<WorkerId> misplaced;
  std::vector<std::string> pushed;
  Status push_answer = Done{};
  std::unique_ptr<RendezvousServer> server;
};

}  // namespace hvd::testing
