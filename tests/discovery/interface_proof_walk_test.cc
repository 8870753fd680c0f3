// Every network of three hosts, and random walks through larger ones, leave a
// proof that holds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>

#include "discovery/interface_proof.h"
#include "discovery/probe_plan.h"
#include "tests/discovery/paper_network.h"

namespace hvd {
namespace {

using testing::Nic;
using testing::PaperHost;
using testing::PaperNetwork;

HostInterfaces TwoNics(const std::string& name, int number) {
  HostInterfaces host = PaperHost(name, number);
  host.interfaces.pop_back();
  host.interfaces.push_back(Nic("eth1", 3, "10.1.0." + std::to_string(number)));
  return host;
}

// What a proof promises of hosts that are proved.
void CheckHolds(const InterfaceProof& proof, const PaperNetwork& network) {
  std::vector<std::string> proved;
  for (const std::string& host : proof.hosts()) {
    const HostProof& of = proof.Of(host);
    CHECK(of.state != ProofState::kOpen);
    CHECK((of.state == ProofState::kFailed) == of.error.has_value());
    if (of.state == ProofState::kProved) proved.push_back(host);
  }
  if (proved.size() < 2) return;
  for (const auto& [from, to] : PlanProbes(proved.size())) {
    const std::string& address = proof.Of(proved[to]).place.address;
    INFO(proved[from] << " to " << proved[to] << " at " << address);
    CHECK(network.Run({proved[from], proved[to], {address, 1, "x"}}).proved());
  }
}

}  // namespace

TEST_CASE("InterfaceProof holds in every network of three hosts",
          "[discovery]") {
  // Six directions, each open on both networks, on one, on the other, on none.
  const char* names[] = {"a", "b", "c"};
  for (unsigned network_number = 0; network_number < 4096; ++network_number) {
    PaperNetwork network;
    unsigned bits = network_number;
    for (int from = 0; from < 3; ++from) {
      for (int to = 1; to <= 3; ++to) {
        if (from + 1 == to) continue;
        const std::string end = ".0." + std::to_string(to);
        if ((bits & 1U) != 0) network.Block(names[from], "10.0" + end);
        if ((bits & 2U) != 0) network.Block(names[from], "10.1" + end);
        bits >>= 2U;
      }
    }
    INFO("network " << network_number);
    InterfaceProof proof;
    for (int i = 0; i < 3; ++i) proof.AddHost(TwoNics(names[i], i + 1));
    const std::size_t count = network.Settle(proof);
    CHECK(count <= 12);
    if (network_number == 0) CHECK(count == 6);
    CheckHolds(proof, network);
    const auto all = proof.hosts();
    // Nobody fails for nothing, and never all.
    CHECK(std::any_of(all.begin(), all.end(), [&](const std::string& host) {
      return proof.Of(host).state == ProofState::kProved;
    }));
  }
}

TEST_CASE("InterfaceProof holds whatever comes, goes and is told when",
          "[discovery]") {
  const auto seed = GENERATE(take(40, random(0U, ~0U)));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % n; };
  PaperNetwork network;
  InterfaceProof proof;
  std::deque<HostProbe> running;
  for (int step = 0; step < 400; ++step) {
    const int number = static_cast<int>(below(24)) + 1;
    const std::string name = "h" + std::to_string(number);
    switch (below(8)) {
      case 0:
      case 1:
        proof.AddHost(TwoNics(name, number));
        break;
      case 2:
        proof.RemoveHost(name);
        break;
      case 3:
        if (below(4) == 0) {
          network.Block(name, "10.0.0." + std::to_string(below(24) + 1));
        }
        break;
      default: {
        for (HostProbe& probe : proof.TakeProbes()) {
          running.push_back(std::move(probe));
        }
        for (std::size_t i = below(30); i > 0 && !running.empty(); --i) {
          const auto at = running.begin() +
                          static_cast<std::ptrdiff_t>(below(running.size()));
          const HostProbe probe = *at;
          running.erase(at);
          proof.OnResult(probe, network.Run(probe));
        }
      }
    }
  }
  for (const HostProbe& probe : running) {
    proof.OnResult(probe, network.Run(probe));
  }
  network.Settle(proof);
  for (const std::string& host : proof.hosts()) {
    CHECK(proof.Of(host).state != ProofState::kOpen);
  }
}

}  // namespace hvd
