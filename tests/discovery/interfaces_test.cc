#include "discovery/interfaces.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("the loopback interface is listed as what it is",
          "[discovery][net]") {
  const auto interfaces = ListInterfaces();
  REQUIRE(interfaces.ok());
  const auto& all = interfaces.value();
  const auto lo = std::find_if(all.begin(), all.end(),
                               [](const Interface& i) { return i.loopback; });
  REQUIRE(lo != all.end());
  CHECK(lo->up);
  CHECK(lo->running);
  CHECK_FALSE(lo->bridge);
  CHECK(lo->index > 0);
  CHECK(std::count(lo->addresses.begin(), lo->addresses.end(),
                   InterfaceAddress{"127.0.0.1", 8}) == 1);
  for (const Interface& interface : all) {
    for (const InterfaceAddress& address : interface.addresses) {
      CHECK_FALSE(address.address.starts_with("fe80:"));
    }
  }
}

TEST_CASE("the default route is the one with the least metric",
          "[discovery][net]") {
  const std::string header =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n";
  CHECK(DefaultRouteInterface(
            header +
            "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
            "eth0\t0000FEA9\t00000000\t0001\t0\t0\t50\t0000FFFF\t0\t0\t0\n"
            "eth1\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n") ==
        "eth1");
  CHECK(DefaultRouteInterface(header).empty());
  CHECK(DefaultRouteInterface("").empty());
  CHECK(DefaultRouteInterface("eth0\t00000000\n").empty());
}

}  // namespace hvd
