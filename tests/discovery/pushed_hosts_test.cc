#include "discovery/pushed_hosts.h"

#include <catch2/catch.hpp>

#include "tests/discovery/heard.h"
#include "tests/discovery/pump.h"
#include "tests/discovery/told.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

const HostList kFound{{"a", 2}};

struct Fixture {
  Fixture() {
    auto source = std::make_unique<testing::Told>();
    told = source.get();
    discovery.emplace(loop, std::move(source), 3);
    discovery->Start(heard.Handlers());
  }
  // All that is due has been told.
  const std::vector<HostList>& Lists() {
    testing::PumpUntil(
        loop, [] { return false; }, 10ms);
    return heard.lists;
  }

  EventLoop loop;
  testing::Heard heard;
  testing::Told* told = nullptr;
  std::optional<PushedHosts> discovery;
};

}  // namespace

TEST_CASE("pushed hosts replace those that were found", "[discovery]") {
  Fixture t;
  t.told->told.on_hosts(kFound);
  CHECK(t.discovery->Push("a:1\nb\n").ok());
  CHECK(t.heard.lists == std::vector<HostList>{kFound});  // not from inside
  CHECK(t.Lists() == std::vector<HostList>{kFound, {{"a", 1}, {"b", 3}}});
  CHECK(t.discovery->Push("# none").ok());
  CHECK(t.Lists().back().empty());
  CHECK(t.heard.failures.empty());
  CHECK(t.heard.warnings.empty());
}

TEST_CASE("the same hosts pushed again are no news", "[discovery]") {
  Fixture t;
  t.told->told.on_hosts(kFound);
  CHECK(t.discovery->Push("a:2").ok());
  CHECK(t.discovery->Push("a:2\n").ok());
  CHECK(t.Lists().size() == 1);
}

TEST_CASE("hosts that are found later replace those that were pushed",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts(kFound);
  CHECK(t.discovery->Push("b:1").ok());
  CHECK(t.Lists().size() == 2);
  t.told->told.on_hosts({{"a", 2}, {"c", 1}});
  CHECK(t.Lists().back() == HostList{{"a", 2}, {"c", 1}});
  // Also what was pushed a moment before.
  CHECK(t.discovery->Push("b:1").ok());
  t.told->told.on_hosts(kFound);
  CHECK(t.Lists().back() == kFound);
}

TEST_CASE("what is pushed before any hosts are found takes its turn",
          "[discovery]") {
  Fixture t;
  CHECK(t.discovery->Push("b:1").ok());
  CHECK(t.Lists().empty());
  t.told->told.on_hosts(kFound);
  CHECK(t.Lists() == std::vector<HostList>{kFound, {{"b", 1}}});
}

TEST_CASE("a discovery that fails at first fails though hosts were pushed",
          "[discovery]") {
  Fixture t;
  CHECK(t.discovery->Push("b:1").ok());
  t.told->told.on_failed(Error{ErrorCode::kUnavailable, "no"});
  CHECK(t.Lists().empty());
  CHECK(t.heard.failures.size() == 1);
}

TEST_CASE("a bad list is refused with its line and changes nothing",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts(kFound);
  const Status bad = t.discovery->Push("a:1\nb:x\n");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().code() == ErrorCode::kInvalidArgument);
  CHECK(bad.error().message() ==
        "pushed hosts:2: slots must be 1 or more, got \"x\": \"b:x\"");
  CHECK(t.Lists().size() == 1);
}

TEST_CASE("an empty push is refused, since it is nearly always an accident",
          "[discovery]") {
  Fixture t;
  t.told->told.on_hosts(kFound);
  const Status empty = t.discovery->Push("");
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().message().starts_with("pushed hosts: the list is empty"));
  CHECK(t.Lists().size() == 1);
}

TEST_CASE("a push may end the discovery that it came through", "[discovery]") {
  Fixture t;
  auto source = std::make_unique<testing::Told>();
  testing::Told* told = source.get();
  auto discovery = std::make_unique<PushedHosts>(t.loop, std::move(source), 1);
  discovery->Start({.on_hosts = [&](const HostList& hosts) {
    if (hosts != kFound) discovery.reset();
  }});
  told->told.on_hosts(kFound);
  CHECK(discovery->Push("b:1").ok());
  CHECK(testing::PumpUntil(
      t.loop, [&] { return !discovery; }, 10s));
}

}  // namespace hvd
