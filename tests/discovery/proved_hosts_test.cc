#include "discovery/proved_hosts.h"

#include <catch2/catch.hpp>

#include "tests/discovery/heard.h"
#include "tests/discovery/pump.h"
#include "tests/discovery/told.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

// Remembers what is wanted; the test says what becomes of it.
class ToldProver : public HostProver {
 public:
  void Start(Handlers handlers) override { told = std::move(handlers); }
  void Want(const HostList& hosts) override {
    wanted.clear();
    for (const HostSlots& host : hosts) wanted.push_back(host.host);
    ++calls;
  }

  Handlers told;
  std::vector<std::string> wanted;
  int calls = 0;
};

struct Fixture {
  explicit Fixture(HostsNeeded needed) {
    auto source = std::make_unique<testing::Told>();
    told = source.get();
    discovery.emplace(loop, std::move(source), prover, needed,
                      [this](const std::string& host, const Error& why) {
                        lost.push_back(host + ": " + why.message());
                      });
    discovery->Start(heard.Handlers());
  }

  EventLoop loop;
  ToldProver prover;
  testing::Heard heard;
  std::vector<std::string> lost;
  testing::Told* told = nullptr;
  std::optional<ProvedHosts> discovery;
};

const Error kRefused{ErrorCode::kUnavailable, "host b: connect: refused"};

}  // namespace

TEST_CASE("a static job gets its hosts when all of them are proved",
          "[discovery]") {
  Fixture t(HostsNeeded::kAll);
  const HostList hosts = {{"a", 2}, {"b", 2}};
  t.told->told.on_hosts(hosts);
  CHECK(t.prover.wanted == std::vector<std::string>{"a", "b"});
  t.prover.told.on_proved("b");
  CHECK(t.heard.lists.empty());
  t.prover.told.on_proved("a");
  REQUIRE(t.heard.lists.size() == 1);
  CHECK(t.heard.lists.front() == hosts);
}

TEST_CASE("a static job ends over a host that fails", "[discovery]") {
  Fixture t(HostsNeeded::kAll);
  t.told->told.on_hosts({{"a", 2}, {"b", 2}});
  t.prover.told.on_failed("b", kRefused);
  REQUIRE(t.heard.failures.size() == 1);
  CHECK(t.heard.failures.front().message() == kRefused.message());
}

TEST_CASE("a static job that loses a host before it starts ends over it",
          "[discovery]") {
  Fixture t(HostsNeeded::kAll);
  t.told->told.on_hosts({{"a", 2}, {"b", 2}});
  t.prover.told.on_proved("b");
  t.prover.told.on_lost("b", {ErrorCode::kTimeout, "silent"});
  REQUIRE(t.heard.failures.size() == 1);
  CHECK(t.heard.failures.front().message() == "host b: silent");
  CHECK(t.lost.empty());
}

TEST_CASE("an elastic job goes on with the hosts it has", "[discovery]") {
  Fixture t(HostsNeeded::kAny);
  t.told->told.on_hosts({{"a", 2}, {"b", 2}});
  CHECK(t.heard.lists.empty());  // none is not the same as none yet
  t.prover.told.on_failed("b", kRefused);
  REQUIRE(t.heard.warnings.size() == 1);
  CHECK(t.heard.warnings.front() ==
        "host b: connect: refused; the host is tried again while it is listed");
  t.prover.told.on_proved("a");
  REQUIRE(t.heard.lists.size() == 1);
  CHECK(t.heard.lists.front() == HostList{{"a", 2}});
  CHECK(t.heard.failures.empty());
}

TEST_CASE("a host that failed is tried again, with one warning",
          "[discovery]") {
  Fixture t(HostsNeeded::kAny);
  t.told->told.on_hosts({{"a", 2}, {"b", 2}});
  t.prover.told.on_proved("a");
  t.prover.told.on_failed("b", kRefused);
  const int calls = t.prover.calls;
  // Another list meanwhile does not hurry it.
  t.told->told.on_hosts({{"a", 3}, {"b", 2}});
  CHECK(t.prover.wanted == std::vector<std::string>{"a"});
  REQUIRE(testing::PumpUntil(
      t.loop, [&] { return t.prover.calls > calls + 1; }, 10s));
  CHECK(t.prover.wanted == std::vector<std::string>{"a", "b"});
  t.prover.told.on_failed("b", kRefused);
  CHECK(t.heard.warnings.size() == 1);
}

TEST_CASE("a host that is lost is told of, and passed on again when it is back",
          "[discovery]") {
  Fixture t(HostsNeeded::kAny);
  const HostList both = {{"a", 2}, {"b", 2}};
  t.told->told.on_hosts(both);
  t.prover.told.on_proved("a");
  t.prover.told.on_proved("b");
  REQUIRE(t.heard.lists.size() == 2);
  t.prover.told.on_lost("b", {ErrorCode::kTimeout, "silent"});
  CHECK(t.lost == std::vector<std::string>{"b: silent"});
  CHECK(t.heard.lists.size() == 2);  // who is told of the loss knows it
  t.prover.told.on_proved("b");
  REQUIRE(t.heard.lists.size() == 3);
  CHECK(t.heard.lists.back() == both);
}

TEST_CASE("a host that is not listed any more is given up", "[discovery]") {
  Fixture t(HostsNeeded::kAny);
  t.told->told.on_hosts({{"a", 2}, {"b", 2}});
  t.prover.told.on_proved("a");
  t.prover.told.on_proved("b");
  t.told->told.on_hosts({{"a", 2}});
  CHECK(t.prover.wanted == std::vector<std::string>{"a"});
  CHECK(t.heard.lists.back() == HostList{{"a", 2}});
  t.told->told.on_hosts({});
  CHECK(t.heard.lists.back().empty());
}

}  // namespace hvd
