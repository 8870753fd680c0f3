// FakeBootstrap: hosts whose part the test plays.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/bootstrap.h"

namespace hvd::testing {

class FakeBootstrap : public Bootstrap {
 public:
  std::size_t room = 100;  // for hosts on their way

  bool HasRoom() const override {
    const auto on_their_way = std::count_if(
        open_.begin(), open_.end(),
        [](const auto& entry) { return !entry.second->has_agent; });
    return static_cast<std::size_t>(on_their_way) < room;
  }
  std::unique_ptr<BootstrapAttempt> Start(const RemoteHost& host,
                                          MakePayload make_payload,
                                          BootstrapHandlers handlers) override {
    auto attempt = std::make_unique<Attempt>(*this, host, std::move(handlers));
    CHECK(open_.emplace(host.host, attempt.get()).second);
    ++tries_[host.host];
    payloads_.push_back(make_payload());
    return attempt;
  }

  // The hosts to which there is a connection, finished or not.
  std::set<std::string> open() const {
    std::set<std::string> hosts;
    for (const auto& [host, attempt] : open_) hosts.insert(host);
    return hosts;
  }
  int tries(const std::string& host) { return tries_[host]; }
  const std::vector<std::string>& payloads() const { return payloads_; }
  const RemoteHost& host(const std::string& name) { return Open(name).host; }

  void Say(const std::string& host, const std::string& line) {
    Open(host).handlers.on_chatter(line);
  }
  void Login(const std::string& host) { Open(host).handlers.on_login(); }
  void Greet(const std::string& host) {
    Open(host).has_agent = true;
    const auto handler = Open(host).handlers.on_agent;
    handler("1.0");
  }
  void Restart(const std::string& host) {
    Open(host).has_agent = false;
    Open(host).handlers.on_restart();
  }
  void End(const std::string& host, BootstrapEnd end) {
    const auto handler = Open(host).handlers.on_end;
    handler(std::move(end));
  }

 private:
  struct Attempt : BootstrapAttempt {
    Attempt(FakeBootstrap& all, RemoteHost of, BootstrapHandlers told)
        : owner(all), host(std::move(of)), handlers(std::move(told)) {}
    ~Attempt() override { owner.open_.erase(host.host); }
    FakeBootstrap& owner;
    RemoteHost host;
    BootstrapHandlers handlers;
    bool has_agent = false;
  };

  Attempt& Open(const std::string& host) {
    REQUIRE(open_.contains(host));
    return *open_.at(host);
  }

  std::map<std::string, Attempt*> open_;
  std::map<std::string, int> tries_;
  std::vector<std::string> payloads_;
};

}  // namespace hvd::testing
