// Job: what hvdrun is to its workers, without the launching: a real rendezvous
// server on a thread of its own, and worker processes of a test program.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/hex.h"
#include "base/random_bytes.h"
#include "rendezvous/rendezvous_server.h"
#include "rendezvous/worker_env.h"
#include "tests/support/program.h"

namespace hvd::testing {

inline constexpr std::chrono::seconds kPatient{20};

inline std::vector<WorkerId> OneHost(int slots) {
  std::vector<WorkerId> workers;
  for (int slot = 0; slot < slots; ++slot) workers.push_back({"a", slot});
  return workers;
}

enum class JobKind { kStatic, kElastic };

class Job {
 public:
  // Its workers run `program` and are the world of epoch 1.
  Job(std::string program, std::vector<WorkerId> workers,
      JobKind kind = JobKind::kStatic)
      : program_(std::move(program)),
        world_{Epoch{1}, std::move(workers)},
        key_(RandomBytes(32)) {
    Result<std::unique_ptr<RendezvousServer>> server = RendezvousServer::Listen(
        loop_, {.bind_address = "127.0.0.1", .job_key = key_, .limits = {}},
        {.on_ready =
             [this](const WorkerId& worker, Epoch after) {
               const std::lock_guard lock(mutex_);
               ready_.insert({worker, after});
             },
         .on_heard =
             [this](const WorkerId& worker, Epoch, std::uint64_t operations) {
               const std::lock_guard lock(mutex_);
               heard_.insert({worker, operations});
             },
         .on_blame =
             [this](const WorkerId& worker, Epoch, int rank) {
               const std::lock_guard lock(mutex_);
               blames_.insert({worker, rank});
             },
         .on_log =
             [this](const WorkerId& worker, const std::string& text) {
               const std::lock_guard lock(mutex_);
               logs_.insert(ToString(worker) + ": " + text);
             },
         .on_result =
             [this](const WorkerId& worker, const std::string& bytes) {
               const std::lock_guard lock(mutex_);
               results_.insert(ToString(worker) + ": " + bytes);
               results_changed_.notify_all();
             },
         .on_refused = [](const std::string&) {}});
    REQUIRE(server.ok());
    server_ = std::move(server).value();
    env_.job_id = "test";
    env_.job_key_hex = ToHex(key_);
    env_.rendezvous_address = "127.0.0.1";
    env_.rendezvous_port = server_->port();
    env_.elastic = kind == JobKind::kElastic;
    env_.start_timeout = Duration{20'000};
    env_.collective_timeout = Duration{20'000};
    for (const WorkerId& worker : world_.workers) {
      if (worker.host == "a") continue;
      env_.networks[worker.host].ring_address = "127.0.0.2";
    }
    server_->Publish(world_);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Job() { StopServer(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // hvdrun is gone.
  void StopServer() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
    server_.reset();
  }

  std::unique_ptr<Program> Start(int rank, const std::string& scene) const {
    return std::make_unique<Program>(
        std::vector<std::string>{program_, scene},
        ProgramOptions{.env = MakeWorkerEnv(env_, world_, rank, {})});
  }
  std::vector<std::unique_ptr<Program>> StartAll(const std::string& scene) {
    std::vector<std::unique_ptr<Program>> programs;
    for (std::size_t rank = 0; rank < world_.workers.size(); ++rank) {
      programs.push_back(Start(static_cast<int>(rank), scene));
    }
    return programs;
  }

  // A worker that is in no world yet.
  std::unique_ptr<Program> StartNewcomer(const WorkerId& worker,
                                         const std::string& scene) const {
    World world = world_;
    world.workers.push_back(worker);
    const int rank = static_cast<int>(world.workers.size()) - 1;
    return std::make_unique<Program>(
        std::vector<std::string>{program_, scene},
        ProgramOptions{.env = MakeWorkerEnv(env_, world, rank, {})});
  }

  // As of world(); each has happened before the next one does.
  void Notify(const WorldNotice& notice) {
    loop_.Post([this, notice, epoch = world_.epoch] {
      server_->Notify(epoch, notice);
    });
  }
  void SetRingAddress(const std::string& host, const std::string& address) {
    loop_.Post(
        [this, host, address] { server_->SetRingAddress(host, address); });
  }
  void Publish(std::vector<WorkerId> workers) {
    const auto epoch = static_cast<std::uint64_t>(world_.epoch) + 1;
    world_ = {Epoch{epoch}, std::move(workers)};
    loop_.Post([this, world = world_] { server_->Publish(world); });
  }

  // True once `worker` has asked for a world after `after`.
  bool HasAsked(const WorkerId& worker, Epoch after) {
    const std::lock_guard lock(mutex_);
    return ready_.contains({worker, after});
  }

  const std::string& key() const { return key_; }
  JobEnv& env() { return env_; }
  // Who said how many collectives it had begun.
  bool WasHeard(const WorkerId& worker, std::uint64_t operations) {
    const std::lock_guard lock(mutex_);
    return heard_.contains({worker, operations});
  }
  // Who said that which rank has failed.
  std::set<std::pair<WorkerId, int>> blames() {
    const std::lock_guard lock(mutex_);
    return blames_;
  }
  std::set<std::string> logs() {
    const std::lock_guard lock(mutex_);
    return logs_;
  }
  // "a/0: bytes"; a worker may have ended before it is seen here.
  bool WaitForResult(const std::string& result) {
    std::unique_lock lock(mutex_);
    return results_changed_.wait_for(lock, kPatient,
                                     [&] { return results_.contains(result); });
  }

 private:
  const std::string program_;
  World world_;
  std::string key_;
  EventLoop loop_;
  std::unique_ptr<RendezvousServer> server_;
  JobEnv env_;
  std::mutex mutex_;
  std::set<std::pair<WorkerId, Epoch>> ready_;
  std::set<std::pair<WorkerId, std::uint64_t>> heard_;
  std::set<std::pair<WorkerId, int>> blames_;
  std::set<std::string> logs_;
  std::set<std::string> results_;
  std::condition_variable results_changed_;
  std::thread thread_;
};

}  // namespace hvd::testing
