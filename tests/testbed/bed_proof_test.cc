// The proof of interfaces among real hosts with traps: each lists its own
// interfaces, answers probes and runs them, as an agent would.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "discovery/interface_proof.h"
#include "tests/support/lines.h"
#include "tests/testbed/bed.h"

namespace hvd::testing {
namespace {

using namespace std::chrono_literals;

// "10.77.0.1/24"
InterfaceAddress ParseAddress(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {text.substr(0, slash), std::stoi(text.substr(slash + 1))};
}

// What `probe_host serve` has said.
HostInterfaces ParseHost(const std::string& host, const std::string& out) {
  HostInterfaces parsed;
  parsed.host = host;
  parsed.identity = "id-" + host;
  for (const std::string& line : Lines(out)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "route") words >> parsed.default_route;
    if (kind == "port") words >> parsed.probe_port;
    if (kind != "interface") continue;
    Interface interface;
    std::string flags;
    words >> interface.name >> interface.index >> flags;
    interface.up = flags.at(0) == '1';
    interface.running = flags.at(1) == '1';
    interface.loopback = flags.at(2) == '1';
    interface.point_to_point = flags.at(3) == '1';
    interface.bridge = flags.at(4) == '1';
    for (std::string address; words >> address;) {
      interface.addresses.push_back(ParseAddress(address));
    }
    parsed.interfaces.push_back(interface);
  }
  return parsed;
}

class ProvedBed {
 public:
  explicit ProvedBed(std::vector<std::string> words) : bed_(std::move(words)) {}

  const Bed& bed() const { return bed_; }
  const InterfaceProof& proof() const { return proof_; }

  // `preferred`: what its name resolves to where hvdrun runs.
  void Add(const std::string& host, const std::string& preferred) {
    auto& serving = serving_[host];
    serving = std::make_unique<Program>(
        bed_.On(host, {HVD_PROBE_HOST, "serve", "id-" + host}));
    INFO(serving->out() << serving->err());
    REQUIRE(serving->WaitForOutput("port "));
    HostInterfaces parsed = ParseHost(host, serving->out());
    parsed.preferred = {preferred};
    proof_.AddHost(parsed);
  }

  // How long the proof took: its rounds, each as long as its slowest host.
  std::chrono::milliseconds Prove() {
    std::chrono::milliseconds took{0};
    for (auto probes = proof_.TakeProbes(); !probes.empty();
         probes = proof_.TakeProbes()) {
      std::map<std::string, std::vector<HostProbe>> by_host;
      for (const HostProbe& probe : probes)
        by_host[probe.from].push_back(probe);
      std::chrono::milliseconds slowest{0};
      for (const auto& [host, its] : by_host) {
        slowest = std::max(slowest, RunOn(host, its));
      }
      took += slowest;
    }
    return took;
  }

  void CheckProved(const std::string& host, const HostPlace& place) const {
    INFO(proof_.Describe(host));
    REQUIRE(proof_.Of(host).state == ProofState::kProved);
    CHECK(proof_.Of(host).place.interface_name == place.interface_name);
    CHECK(proof_.Of(host).place.address == place.address);
  }

 private:
  std::chrono::milliseconds RunOn(const std::string& host,
                                  const std::vector<HostProbe>& probes) {
    std::vector<std::string> words = {HVD_PROBE_HOST, "dial"};
    for (const HostProbe& probe : probes) {
      words.push_back(probe.target.address);
      words.push_back(std::to_string(probe.target.port));
      words.push_back(probe.target.identity);
    }
    const ProgramResult ran = bed_.Run(host, words);
    INFO(ran.err);
    const auto lines = Lines(ran.out);
    REQUIRE(lines.size() == probes.size());
    for (const std::string& line : lines) {
      std::istringstream in(line);
      std::size_t index = 0;
      int kind = 0;
      ProbeResult result;
      in >> index >> kind >> result.answered_as;
      in.ignore(1);
      std::getline(in, result.failure);
      result.kind = static_cast<ProbeResult::Kind>(kind);
      proof_.OnResult(probes.at(index), result);
    }
    return ran.took;
  }

  Bed bed_;
  std::map<std::string, std::unique_ptr<Program>> serving_;
  InterfaceProof proof_;
};

}  // namespace

TEST_CASE("Hosts with NICs of other names and a docker0 are proved",
          "[testbed]") {
  ProvedBed t({"3", "--docker0", "--dead-network", "--nics", "eth0,ens5"});
  t.Add("a", "10.77.0.1");
  t.Add("b", "10.77.0.2");
  t.Add("c", "10.77.0.3");
  CHECK(t.Prove() < 2s);
  t.CheckProved("a", {"eth0", "10.77.0.1"});
  t.CheckProved("b", {"ens5", "10.77.0.2"});
  t.CheckProved("c", {"eth0", "10.77.0.3"});
}

TEST_CASE("Hosts are proved though nobody wrote an address of theirs",
          "[testbed]") {
  ProvedBed t({"3", "--docker0", "--dead-network", "--nics", "eth0,ens5"});
  for (const char* host : {"a", "b", "c"}) t.Add(host, "127.0.1.1");
  CHECK(t.Prove() < 10s);
  t.CheckProved("a", {"eth0", "10.77.0.1"});
  t.CheckProved("b", {"ens5", "10.77.0.2"});
  t.CheckProved("c", {"eth0", "10.77.0.3"});
}

TEST_CASE("Hosts that have IPv6 only are proved", "[testbed]") {
  ProvedBed t({"2", "--ipv6"});
  t.Add("a", "fd77::1");
  t.Add("b", "fd77::2");
  t.Prove();
  t.CheckProved("a", {"eth0", "fd77::1"});
  t.CheckProved("b", {"eth0", "fd77::2"});
}

TEST_CASE("Two hosts without a route are told with the pair and the reason",
          "[testbed]") {
  ProvedBed t({"3", "--docker0", "--no-route", "a:b"});
  t.Add("a", "10.77.0.1");
  t.Add("b", "10.77.0.2");
  t.Add("c", "10.77.0.3");
  CHECK(t.Prove() < 10s);
  t.CheckProved("a", {"eth0", "10.77.0.1"});
  t.CheckProved("c", {"eth0", "10.77.0.3"});
  const HostProof& b = t.proof().Of("b");
  REQUIRE(b.state == ProofState::kFailed);
  CHECK(b.error->message() ==
        "host a cannot reach host b at 10.77.0.2: No route to host");
  // The answers to b don't come back either: both ways, at two addresses each.
  REQUIRE(b.table.size() == 5);
  CHECK(std::count(b.table.begin(), b.table.end(),
                   "a     b   10.77.0.2   No route to host") == 1);
}

TEST_CASE("A newcomer whose cable is cut fails alone and in time",
          "[testbed]") {
  ProvedBed t({"3", "--docker0"});
  t.Add("a", "10.77.0.1");
  t.Add("b", "10.77.0.2");
  t.Prove();
  t.Add("c", "10.77.0.3");
  t.bed().Cut("c");
  CHECK(t.Prove() < 10s);
  t.CheckProved("a", {"eth0", "10.77.0.1"});
  t.CheckProved("b", {"eth0", "10.77.0.2"});
  CHECK(t.proof().Of("c").state == ProofState::kFailed);
  CHECK(t.proof().Of("c").table.size() > 2);
}

}  // namespace hvd::testing
