#include "discovery/interface_choice.h"

#include <catch2/catch.hpp>

#include "tests/discovery/paper_network.h"

namespace hvd {
namespace {

using testing::Docker;
using testing::Loopback;
using testing::Nic;
using testing::PaperHost;

std::vector<std::string> Addresses(const Result<std::vector<Candidate>>& list) {
  std::vector<std::string> addresses;
  for (const Candidate& c : list.value()) addresses.push_back(c.place.address);
  return addresses;
}

HostInterfaces ThisMachine(const std::string& written,
                           const std::string& address) {
  return {.host = written,
          .identity = "here",
          .probe_port = 1,
          .interfaces = {Loopback(), Docker(), Nic("eth1", 3, "10.1.0.1"),
                         Nic("eth0", 4, "10.0.0.1")},
          .default_route = "eth0",
          .preferred = {address},
          .is_local = true};
}

HostPlace Alone(const HostInterfaces& host,
                const std::vector<std::string>& only = {}) {
  return PlaceOfMachineAlone(host, only).value();
}

}  // namespace

TEST_CASE("candidates begin with what the user wrote and end with bridges",
          "[discovery]") {
  HostInterfaces host = PaperHost("a", 1);
  host.interfaces = {Loopback(),
                     Docker(),
                     Nic("aaa0", 3, "10.99.9.1"),
                     Nic("eth1", 4, "10.88.0.1"),
                     Nic("eth0", 5, "10.0.0.1"),
                     Nic("six0", 6, "fd77::1", 64)};
  CHECK(Addresses(CandidatesOf(host, {"10.0.0.1", "10.88.0.2"}, {})) ==
        std::vector<std::string>{"10.0.0.1", "10.88.0.1", "10.99.9.1",
                                 "fd77::1", "172.17.0.1"});
}

TEST_CASE("an IPv6 address that the user wrote comes first", "[discovery]") {
  HostInterfaces host = PaperHost("a", 1);
  host.interfaces[1].addresses.push_back({"fd77::1", 64});
  host.preferred = {"fd77::1"};
  const auto list = CandidatesOf(host, {"fd77::1"}, {});
  CHECK(list.value().front().place == HostPlace{"eth0", "fd77::1"});
}

TEST_CASE("a bridge whose subnet the user wrote is no last resort",
          "[discovery]") {
  HostInterfaces host = PaperHost("a", 1);
  Interface bridge = Nic("br0", 12, "10.77.0.254");
  bridge.bridge = true;
  host.interfaces.push_back(bridge);
  host.preferred = {"127.0.1.1"};
  CHECK(Addresses(CandidatesOf(host, {"127.0.1.1", "10.77.0.2"}, {})).front() ==
        "10.77.0.254");
}

TEST_CASE("what is down or loopback is no candidate", "[discovery]") {
  HostInterfaces host = PaperHost("a", 1);
  host.interfaces[1].up = false;
  host.interfaces.pop_back();
  const auto list = CandidatesOf(host, {"10.0.0.1"}, {});
  REQUIRE_FALSE(list.ok());
  CHECK(list.error().message() ==
        "host a has no address that another machine could reach; it has lo, "
        "eth0");
}

TEST_CASE("of the interfaces only those of --network-interfaces are left",
          "[discovery]") {
  const HostInterfaces host = PaperHost("a", 1);
  CHECK(Addresses(CandidatesOf(host, {}, {"docker0", "eth9"})) ==
        std::vector<std::string>{"172.17.0.1"});
  CHECK(CandidatesOf(host, {}, {"eth7", "ib0"}).error().message() ==
        "--network-interfaces eth7, ib0: host a has no such interface; it has "
        "lo, eth0, docker0");
  CHECK(CandidatesOf(host, {}, {"lo"}).error().message() ==
        "--network-interfaces lo: on host a that is loopback, which no other "
        "machine can reach; it has lo, eth0, docker0");
}

TEST_CASE("an interface of --network-interfaces that is down is told so",
          "[discovery]") {
  HostInterfaces host = PaperHost("a", 1);
  host.interfaces[1].up = false;
  CHECK(CandidatesOf(host, {}, {"eth0"}).error().message() ==
        "--network-interfaces eth0: on host a that is down or has no address");
}

TEST_CASE("a machine alone takes the interface of its default route",
          "[discovery]") {
  HostInterfaces host = ThisMachine("localhost", "127.0.0.1");
  CHECK(Alone(host) == HostPlace{"eth0", "10.0.0.1"});
  host.default_route = "";
  CHECK(Alone(host) == HostPlace{"eth1", "10.1.0.1"});
  host.interfaces = {Loopback(), Docker()};
  CHECK(Alone(host) == HostPlace{"lo", "127.0.0.1"});
}

TEST_CASE("a machine alone keeps the address that was written", "[discovery]") {
  CHECK(Alone(ThisMachine("10.1.0.1", "10.1.0.1")) ==
        HostPlace{"eth1", "10.1.0.1"});
  CHECK(Alone(ThisMachine("127.0.0.2", "127.0.0.2")) ==
        HostPlace{"lo", "127.0.0.2"});
  // Debian's name for itself, which nobody wrote.
  CHECK(Alone(ThisMachine("box", "127.0.1.1")) ==
        HostPlace{"eth0", "10.0.0.1"});
}

TEST_CASE("a machine alone may be given loopback by name", "[discovery]") {
  const HostInterfaces host = ThisMachine("localhost", "127.0.0.1");
  CHECK(Alone(host, {"lo"}) == HostPlace{"lo", "127.0.0.1"});
  CHECK(Alone(host, {"ib0", "eth1"}) == HostPlace{"eth1", "10.1.0.1"});
  CHECK_FALSE(PlaceOfMachineAlone(host, {"ib0"}).ok());
}

TEST_CASE("a local job has loopback unless another interface is named",
          "[discovery]") {
  const HostInterfaces host = ThisMachine("127.0.0.2", "127.0.0.2");
  CHECK(PlaceOfLocalJob(host, {}).value() == HostPlace{"lo", "127.0.0.2"});
  CHECK(PlaceOfLocalJob(host, {"lo"}).value() == HostPlace{"lo", "127.0.0.2"});
  CHECK(PlaceOfLocalJob(host, {"eth1"}).value() ==
        HostPlace{"eth1", "10.1.0.1"});
  CHECK(PlaceOfLocalJob(host, {"eth7"}).error().message() ==
        "--network-interfaces eth7: host 127.0.0.2 has no such interface; it "
        "has lo, docker0, eth1, eth0");
}

TEST_CASE("NCCL's ways to name interfaces are understood", "[discovery]") {
  const auto interfaces = PaperHost("a", 1).interfaces;  // lo, eth0, docker0
  for (const char* good : {"eth", "eth0", "ib,eth", "=eth0", "=lo", "^docker",
                           "^docker,lo", "^=eth0", "eth0:4000", ""}) {
    INFO(good);
    CHECK(NcclFindsInterface(good, interfaces));
  }
  for (const char* bad :
       {"eth7", "=eth", "ib,mlx", "^lo,eth,docker", "=docker,=eth"}) {
    INFO(bad);
    CHECK_FALSE(NcclFindsInterface(bad, interfaces));
  }
}

TEST_CASE("an interface that a host does not have is named with the host",
          "[discovery]") {
  const HostInterfaces host = PaperHost("b", 2);
  CHECK(UnmatchedInterface("NCCL_SOCKET_IFNAME", "eth7", host) ==
        "NCCL_SOCKET_IFNAME=eth7 matches no interface of host b, which has lo, "
        "eth0, docker0");
  CHECK(UnmatchedInterface("HOROVOD_GLOO_IFACE", "eth", host) ==
        "HOROVOD_GLOO_IFACE=eth matches no interface of host b, which has lo, "
        "eth0, docker0");
  CHECK_FALSE(UnmatchedInterface("NCCL_SOCKET_IFNAME", "eth", host));
  CHECK_FALSE(UnmatchedInterface("HOROVOD_GLOO_IFACE", "eth0", host));
}

}  // namespace hvd
