#include "cmd/local_network.h"

#include <catch2/catch.hpp>

#include "tests/discovery/paper_network.h"

namespace hvd {
namespace {

const std::vector<Interface> kInterfaces = {testing::Loopback(),
                                            testing::Nic("eth0", 2, "10.0.0.1"),
                                            testing::Docker()};
const std::vector<HostAddress> kHosts = {{"localhost", "127.0.0.1", true},
                                         {"127.0.0.2", "127.0.0.2", true}};

}  // namespace

TEST_CASE("a local job's workers go where --network-interfaces says", "[cmd]") {
  std::map<std::string, HostNetwork> networks;
  REQUIRE(UseInterfaces({"ib0", "eth0"}, kInterfaces, kHosts, networks).ok());
  REQUIRE(networks.size() == 2);
  for (const auto& [host, network] : networks) {
    CHECK(network.interface_name == "eth0");
    CHECK(network.ring_address == "10.0.0.1");
  }
}

TEST_CASE("a local job may be given loopback by name", "[cmd]") {
  std::map<std::string, HostNetwork> networks;
  REQUIRE(UseInterfaces({"lo"}, kInterfaces, kHosts, networks).ok());
  CHECK(networks.at("127.0.0.2").interface_name == "lo");
  CHECK(networks.at("127.0.0.2").ring_address == "127.0.0.2");
}

TEST_CASE("an interface that this machine does not have ends a local job",
          "[cmd]") {
  std::map<std::string, HostNetwork> networks;
  CHECK(UseInterfaces({"eth7"}, kInterfaces, kHosts, networks)
            .error()
            .message() ==
        "--network-interfaces eth7: host localhost has no such interface; it "
        "has lo, eth0, docker0");
}

TEST_CASE("other machines' networks are not this machine's to say", "[cmd]") {
  std::map<std::string, HostNetwork> networks;
  CHECK(UseInterfaces({"eth0"}, kInterfaces,
                      {{"localhost", "127.0.0.1", true}, {"b", "10.0.0.2"}},
                      networks)
            .ok());
  CHECK(networks.count("localhost") == 1);
  CHECK(networks.count("b") == 0);
}

TEST_CASE("without a flag a local job's networks are left alone", "[cmd]") {
  std::map<std::string, HostNetwork> networks;
  CHECK(UseInterfaces({}, kInterfaces, kHosts, networks).ok());
  CHECK(networks.empty());
}

TEST_CASE("an interface of the user's environment that is not here is told",
          "[cmd]") {
  CHECK(UnmatchedHere(
            {{"NCCL_SOCKET_IFNAME", "eth7"}, {"HOROVOD_GLOO_IFACE", "eth0"}},
            kInterfaces) ==
        std::vector<std::string>{
            "NCCL_SOCKET_IFNAME=eth7 matches no interface of host localhost, "
            "which has lo, eth0, docker0"});
  CHECK(UnmatchedHere({{"NCCL_SOCKET_IFNAME", "=lo"}}, kInterfaces).empty());
  CHECK(UnmatchedHere({}, kInterfaces).empty());
}

}  // namespace hvd
