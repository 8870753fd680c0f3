#include "discovery/fixed_discovery.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {

TEST_CASE("FixedDiscovery tells its hosts once, from the loop",
          "[discovery][net]") {
  EventLoop loop;
  FixedDiscovery discovery(loop, {{"a", 2}});
  int calls = 0;
  HostList seen;
  discovery.Start({.on_hosts = [&](HostList hosts) {
    ++calls;
    seen = std::move(hosts);
  }});
  CHECK(calls == 0);
  CHECK(loop.RunUntil([&] { return calls > 0; }, 5s));
  CHECK(seen == HostList{{"a", 2}});
  CHECK_FALSE(loop.RunUntil([&] { return calls > 1; }, 20ms));
}

TEST_CASE("FixedDiscovery is silent once destroyed", "[discovery][net]") {
  EventLoop loop;
  int calls = 0;
  {
    FixedDiscovery discovery(loop, {{"a", 2}});
    discovery.Start({.on_hosts = [&](const HostList&) { ++calls; }});
  }
  CHECK_FALSE(loop.RunUntil([&] { return calls > 0; }, 20ms));
}

}  // namespace hvd
