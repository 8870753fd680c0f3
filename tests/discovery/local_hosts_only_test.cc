#include "discovery/local_hosts_only.h"

#include <catch2/catch.hpp>

#include "tests/discovery/heard.h"
#include "tests/discovery/pump.h"
#include "tests/discovery/told.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

struct Fixture {
  Fixture() {
    auto source = std::make_unique<testing::Told>();
    told = source.get();
    discovery.emplace(
        loop, std::move(source), 5s,
        [this](const HostAddress& a) { addresses.push_back(a.address); });
    discovery->Start(heard.Handlers());
  }
  bool Until(const std::function<bool()>& done) {
    return testing::PumpUntil(loop, done, 10s);
  }

  EventLoop loop;
  testing::Heard heard;
  std::vector<std::string> addresses;
  testing::Told* told = nullptr;
  std::optional<LocalHostsOnly> discovery;
};

}  // namespace

TEST_CASE("hosts of this machine are passed on with their addresses",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts({{"localhost", 2}, {"127.0.0.2", 1}});
  REQUIRE(t.Until([&] { return !t.heard.lists.empty(); }));
  CHECK(t.heard.lists.front() == HostList{{"localhost", 2}, {"127.0.0.2", 1}});
  CHECK(t.addresses == std::vector<std::string>{"127.0.0.1", "127.0.0.2"});
}

TEST_CASE("another machine in the first list is an error", "[discovery]") {
  Fixture t;
  t.told->told.on_hosts({{"localhost", 2}, {"192.0.2.1", 1}});
  REQUIRE(t.Until([&] { return !t.heard.failures.empty(); }));
  CHECK(t.heard.failures.front().message() ==
        "host 192.0.2.1 (192.0.2.1) is not this machine");
  CHECK(t.heard.lists.empty());
}

TEST_CASE("another machine in a later list is left out with a warning",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts({{"localhost", 1}});
  REQUIRE(t.Until([&] { return t.heard.lists.size() == 1; }));
  t.told->told.on_hosts({{"192.0.2.1", 4}, {"localhost", 2}});
  REQUIRE(t.Until([&] { return t.heard.lists.size() == 2; }));
  CHECK(t.heard.lists.back() == HostList{{"localhost", 2}});
  CHECK(t.heard.warnings ==
        std::vector<std::string>{
            "host 192.0.2.1 (192.0.2.1) is not this machine: left out"});
}

TEST_CASE("another machine in a list that came too early is left out",
          "[discovery]") {
  // The first list's names are still being looked up.
  Fixture t;
  t.told->told.on_hosts({{"localhost", 1}});
  t.told->told.on_hosts({{"192.0.2.1", 4}, {"localhost", 2}});
  REQUIRE(t.Until([&] { return !t.heard.lists.empty(); }));
  CHECK(t.heard.lists.back() == HostList{{"localhost", 2}});
  CHECK(t.heard.failures.empty());
  CHECK(t.heard.warnings.size() == 1);
}

TEST_CASE("an empty list is passed on, the same list again is not",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts({});
  REQUIRE(t.Until([&] { return t.heard.lists.size() == 1; }));
  t.told->told.on_hosts({});
  t.told->told.on_hosts({{"localhost", 1}});
  REQUIRE(t.Until([&] { return t.heard.lists.size() == 2; }));
  CHECK(t.heard.lists.front().empty());
  CHECK(t.heard.lists.back() == HostList{{"localhost", 1}});
}

}  // namespace hvd
