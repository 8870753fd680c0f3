#include "discovery/interface_proof.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "discovery/probe_plan.h"
#include "tests/discovery/paper_network.h"

namespace hvd {
namespace {

using testing::Nic;
using testing::PaperHost;
using testing::PaperNetwork;

std::string AddressOf(const InterfaceProof& proof, const std::string& host) {
  const HostProof& of = proof.Of(host);
  return of.state == ProofState::kProved ? of.place.address
         : of.error                      ? "failed"
                                         : "open";
}

struct Trio {
  PaperNetwork network;
  InterfaceProof proof;
  Trio() {
    network.MakePrivate("172.17.0.1");
    int number = 0;
    for (const char* name : {"a", "b", "c"}) {
      proof.AddHost(PaperHost(name, ++number));
    }
  }
};

}  // namespace

TEST_CASE("InterfaceProof probes only what was written where that suffices",
          "[discovery]") {
  Trio trio;
  CHECK(trio.network.Settle(trio.proof) == 6);
  CHECK(AddressOf(trio.proof, "a") == "10.0.0.1");
  CHECK(AddressOf(trio.proof, "c") == "10.0.0.3");
  CHECK(trio.proof.Of("b").place.interface_name == "eth0");
  CHECK(trio.proof.Describe("b") ==
        "host b: eth0 10.0.0.2; not used: docker0 172.17.0.1 (not needed)");
}

TEST_CASE("InterfaceProof asks n(n-1) times up to 16 hosts, then six a host",
          "[discovery]") {
  for (const int n : {2, 5, 16, 17, 40}) {
    INFO(n);
    PaperNetwork network;
    InterfaceProof proof;
    for (int i = 0; i < n; ++i) {
      proof.AddHost(PaperHost("h" + std::to_string(i), i + 1));
    }
    const auto count = static_cast<std::size_t>(n);
    CHECK(network.Settle(proof) ==
          (n <= 16 ? count * (count - 1) : 6 * count - 10));
    for (const std::string& host : proof.hosts()) {
      CHECK(proof.Of(host).state == ProofState::kProved);
    }
  }
}

TEST_CASE("InterfaceProof probes nothing for one machine, whatever its names",
          "[discovery]") {
  InterfaceProof proof;
  HostInterfaces here = PaperHost("localhost", 1);
  here.is_local = true;
  here.preferred = {"127.0.0.1"};
  HostInterfaces other = here;
  other.host = "127.0.0.2";
  other.preferred = {"127.0.0.2"};
  proof.AddHost(here);
  proof.AddHost(other);
  CHECK(proof.TakeProbes().empty());
  CHECK(AddressOf(proof, "localhost") == "10.0.0.1");
  CHECK(AddressOf(proof, "127.0.0.2") == "127.0.0.2");
}

TEST_CASE("InterfaceProof moves this machine off loopback for the first other",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  HostInterfaces here = PaperHost("127.0.0.2", 1);
  here.is_local = true;
  here.preferred = {"127.0.0.2"};
  proof.AddHost(here);
  network.Settle(proof);
  REQUIRE(AddressOf(proof, "127.0.0.2") == "127.0.0.2");
  proof.AddHost(PaperHost("b", 2));
  network.Settle(proof);
  CHECK(AddressOf(proof, "127.0.0.2") == "10.0.0.1");
  CHECK(AddressOf(proof, "b") == "10.0.0.2");
}

TEST_CASE("InterfaceProof goes on to other addresses when one does not serve",
          "[discovery]") {
  PaperNetwork network;
  network.MakePrivate("172.17.0.1");
  InterfaceProof proof;
  for (int i = 1; i <= 3; ++i) {
    HostInterfaces host = PaperHost("h" + std::to_string(i), i);
    host.interfaces.push_back(Nic("ens5", 3, "10.1.0." + std::to_string(i)));
    proof.AddHost(host);
  }
  network.Block("h3", "10.0.0.1");
  network.Settle(proof);
  CHECK(proof.Of("h1").place == HostPlace{"ens5", "10.1.0.1"});
  CHECK(proof.Of("h2").place == HostPlace{"eth0", "10.0.0.2"});
  CHECK(proof.Describe("h1") ==
        "host h1: ens5 10.1.0.1; not used: eth0 10.0.0.1 (h3: No route to "
        "host), docker0 172.17.0.1 (h2: answered as host h2)");
}

TEST_CASE("InterfaceProof takes a dead first NIC for what it is",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  for (int i = 1; i <= 2; ++i) {
    HostInterfaces host = PaperHost("h" + std::to_string(i), i);
    host.interfaces.insert(host.interfaces.begin(),
                           Nic("aaa0", 2, "10.99.9." + std::to_string(i)));
    host.preferred = {"127.0.1.1"};  // as at home
    proof.AddHost(host);
  }
  network.Block("h1", "10.99.9.2");
  network.Block("h2", "10.99.9.1");
  CHECK(network.Settle(proof) == 4);
  CHECK(AddressOf(proof, "h1") == "10.0.0.1");
  CHECK(AddressOf(proof, "h2") == "10.0.0.2");
}

TEST_CASE("InterfaceProof leaves twenty bridges alone where it can",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  for (int i = 1; i <= 2; ++i) {
    HostInterfaces host = PaperHost("h" + std::to_string(i), i);
    host.interfaces.push_back(Nic("eth1", 3, "10.88.0." + std::to_string(i)));
    host.preferred = {"10.88.0." + std::to_string(i)};
    for (int k = 0; k < 20; ++k) {
      Interface bridge = Nic("br" + std::to_string(k), 20 + k,
                             "10.200." + std::to_string(k) + ".1");
      bridge.bridge = true;
      host.interfaces.insert(host.interfaces.begin(), bridge);
    }
    proof.AddHost(host);
  }
  CHECK(network.Settle(proof) == 2);
  CHECK(proof.Of("h1").place == HostPlace{"eth1", "10.88.0.1"});
  CHECK(proof.Of("h2").place == HostPlace{"eth1", "10.88.0.2"});
}

TEST_CASE("InterfaceProof fails the later of two that cannot reach each other",
          "[discovery]") {
  PaperNetwork network;
  network.MakePrivate("172.17.0.1");
  InterfaceProof proof;
  proof.AddHost(PaperHost("a", 1));
  proof.AddHost(PaperHost("b", 2));
  network.Block("a", "10.0.0.2");
  network.Settle(proof);
  REQUIRE(AddressOf(proof, "b") == "failed");
  CHECK(proof.Of("b").error->message() ==
        "host a cannot reach host b at 10.0.0.2: No route to host");
  CHECK_FALSE(proof.Of("b").error->hint().empty());
  CHECK(proof.Of("b").table ==
        std::vector<std::string>{"from  to  address     outcome",
                                 "a     b   10.0.0.2    No route to host",
                                 "a     b   172.17.0.1  answered as host a"});
}

TEST_CASE("InterfaceProof fails the one host that nobody reaches",
          "[discovery]") {
  Trio trio;
  trio.network.Block("b", "10.0.0.1");
  trio.network.Block("c", "10.0.0.1");
  trio.network.Settle(trio.proof);
  CHECK(AddressOf(trio.proof, "a") == "failed");
  CHECK(AddressOf(trio.proof, "b") == "10.0.0.2");
  CHECK(AddressOf(trio.proof, "c") == "10.0.0.3");
}

TEST_CASE("InterfaceProof fails a host that has no address for all",
          "[discovery]") {
  Trio trio;
  HostInterfaces two = PaperHost("d", 4);
  two.interfaces.push_back(Nic("eth1", 5, "10.1.0.4"));
  trio.proof.AddHost(two);
  trio.network.Block("a", "10.0.0.4");
  trio.network.Block("b", "10.1.0.4");
  trio.network.Settle(trio.proof);
  CHECK(trio.proof.Of("d").error->message() ==
        "host d has no address that all others reach");
  const auto& table = trio.proof.Of("d").table;
  CHECK(std::find(table.begin(), table.end(),
                  "a     d   10.1.0.4    reached") != table.end());
  CHECK(AddressOf(trio.proof, "a") == "10.0.0.1");
}

TEST_CASE("InterfaceProof lets no newcomer disturb who is proved",
          "[discovery]") {
  Trio trio;
  trio.network.Settle(trio.proof);
  trio.proof.AddHost(PaperHost("d", 4));
  trio.proof.AddHost(PaperHost("e", 5));
  for (const char* old : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
    trio.network.Block("d", old);
  }
  const auto probes = trio.proof.TakeProbes();
  CHECK(AddressOf(trio.proof, "a") == "10.0.0.1");  // meanwhile too
  for (const HostProbe& probe : probes) {
    trio.proof.OnResult(probe, trio.network.Run(probe));
  }
  trio.network.Settle(trio.proof);
  CHECK(AddressOf(trio.proof, "a") == "10.0.0.1");
  CHECK(AddressOf(trio.proof, "d") == "failed");
  CHECK(AddressOf(trio.proof, "e") == "10.0.0.5");
}

TEST_CASE("InterfaceProof moves a choice that does not serve the newcomer",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  HostInterfaces two = PaperHost("a", 1);
  two.interfaces.push_back(Nic("eth1", 5, "10.1.0.1"));
  proof.AddHost(two);
  proof.AddHost(PaperHost("b", 2));
  network.Settle(proof);
  REQUIRE(AddressOf(proof, "a") == "10.0.0.1");
  network.Block("c", "10.0.0.1");
  proof.AddHost(PaperHost("c", 3));
  network.Settle(proof);
  CHECK(AddressOf(proof, "a") == "10.1.0.1");
  CHECK(AddressOf(proof, "c") == "10.0.0.3");
  proof.RemoveHost("c");
  proof.AddHost(PaperHost("d", 4));
  network.Settle(proof);
  CHECK(AddressOf(proof, "a") == "10.1.0.1");  // stays while it serves
}

TEST_CASE("InterfaceProof goes on when a host leaves in the midst of it",
          "[discovery]") {
  Trio trio;
  const auto probes = trio.proof.TakeProbes();
  trio.proof.RemoveHost("c");
  for (const HostProbe& probe : probes) {
    trio.proof.OnResult(probe, trio.network.Run(probe));
  }
  CHECK(trio.proof.hosts() == std::vector<std::string>{"a", "b"});
  CHECK(AddressOf(trio.proof, "a") == "10.0.0.1");
  CHECK(AddressOf(trio.proof, "b") == "10.0.0.2");
}

TEST_CASE("InterfaceProof does not take an old life's results for a new one's",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  proof.AddHost(PaperHost("a", 1));
  proof.AddHost(PaperHost("b", 2));
  const auto old = proof.TakeProbes();
  HostInterfaces again = PaperHost("b", 2);
  again.identity = "id-b-again";
  proof.AddHost(again);
  const auto fresh = proof.TakeProbes();
  for (const HostProbe& probe : old) {
    if (probe.to == "b") proof.OnResult(probe, network.Run(probe));
  }
  CHECK(AddressOf(proof, "b") == "open");
  for (const HostProbe& probe : fresh) {
    proof.OnResult(probe, network.Run(probe));
  }
  network.Settle(proof);
  CHECK(AddressOf(proof, "b") == "10.0.0.2");
}

TEST_CASE("InterfaceProof finds the new neighbours when a long ring closes",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  for (int i = 0; i < 30; ++i) {
    proof.AddHost(PaperHost("h" + std::to_string(i), i + 1));
  }
  network.Settle(proof);
  proof.RemoveHost("h7");
  // (6, 8) were at distance 2 before; (5, 8) and (6, 9) have become so.
  CHECK(network.Settle(proof) == 4);
  CHECK(AddressOf(proof, "h6") == "10.0.0.7");
}

TEST_CASE("InterfaceProof refuses loopback for two machines", "[discovery]") {
  InterfaceProof proof({"lo"});
  proof.AddHost(PaperHost("a", 1));
  proof.AddHost(PaperHost("b", 2));
  CHECK(proof.TakeProbes().empty());
  CHECK(proof.Of("a").error->message() ==
        "--network-interfaces lo: on host a that is loopback, which no other "
        "machine can reach; it has lo, eth0, docker0");
  CHECK(proof.Of("b").state == ProofState::kFailed);
}

TEST_CASE("InterfaceProof fails the newcomer where this machine has only lo",
          "[discovery]") {
  PaperNetwork network;
  InterfaceProof proof;
  HostInterfaces here = PaperHost("localhost", 1);
  here.interfaces = {testing::Loopback()};
  here.preferred = {"127.0.0.1"};
  here.is_local = true;
  proof.AddHost(here);
  network.Settle(proof);
  proof.AddHost(PaperHost("b", 2));
  network.Settle(proof);
  CHECK(AddressOf(proof, "localhost") == "127.0.0.1");
  CHECK(proof.Of("b").error->message() ==
        "host b cannot reach host localhost: host localhost has no address "
        "that another machine could reach; it has lo");
}

TEST_CASE("a reach table is bounded and says what is missing", "[discovery]") {
  std::vector<ReachRow> rows(25, {"a", "long-name", "fd77::1", "reached"});
  const auto lines = FormatReachTable(rows, 20);
  CHECK(lines.size() == 22);
  CHECK(lines[0] == "from  to         address  outcome");
  CHECK(lines[1] == "a     long-name  fd77::1  reached");
  CHECK(lines.back() == "and 5 more");
}

TEST_CASE(
    "InterfaceProof names the direction that fails, not the one that waits",
    "[discovery]") {
  InterfaceProof proof;
  proof.AddHost(PaperHost("a", 1));
  proof.AddHost(PaperHost("b", 2));
  for (auto probes = proof.TakeProbes(); !probes.empty();
       probes = proof.TakeProbes()) {
    for (const HostProbe& probe : probes) {
      ProbeResult result;
      result.failure =
          probe.from == "a" ? "No route to host" : "timed out after 2 s";
      proof.OnResult(probe, result);
    }
  }
  CHECK(proof.Of("b").error->message() ==
        "host a cannot reach host b at 10.0.0.2: No route to host");
  CHECK(proof.Of("b").table.size() == 5);
}

}  // namespace hvd
