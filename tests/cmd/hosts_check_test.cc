// The check of hosts, with a prover that has no hosts: what comes of them is
// what each test says.
#include "cmd/hosts_check.h"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/discovery/pump.h"

namespace hvd {
namespace {

using std::chrono::microseconds;
using testing::PumpUntil;

constexpr Duration kPatience{20'000};

LinkResult Rate(std::uint64_t mbit) {
  return {.load_bytes = mbit * 125'000, .load_time = microseconds{1'000'000}};
}

class FakeProver : public WatchedProver {
 public:
  FakeProver(EventLoop& loop, JobEnv& env) : loop_(loop), env_(env) {}

  void Watch(Watcher watcher) override { watcher_ = std::move(watcher); }
  void Start(Handlers handlers) override { handlers_ = std::move(handlers); }
  void Want(const HostList& hosts) override {
    for (const HostSlots& host : hosts) {
      Later([this, name = host.host] {
        if (failing.contains(name)) {
          return handlers_.on_failed(
              name, {ErrorCode::kUnavailable, "host " + name + ": no"});
        }
        Prove(name);
      });
    }
  }
  void AskTime(const std::string& host, AgentAskTime question) override {
    ++asked[host];
    if (silent.contains(host)) return;
    Later([this, host, question] {
      watcher_.on_time(host, {question.number, 1'700'000'000'000'000});
    });
  }
  void Measure(const std::string& host, AgentMeasure question) override {
    measured.push_back(host);
    Later([this, host, question] {
      if (lost_while_measuring == host) return Lose(host);
      std::deque<LinkResult>& results = links[host];
      LinkResult result = results.empty() ? Rate(1'000) : results.front();
      if (!results.empty()) results.pop_front();
      watcher_.on_measured(host, {question.number, result});
    });
  }

  void Lose(const std::string& host) {
    handlers_.on_lost(host, {ErrorCode::kUnavailable, "gone"});
  }

  std::set<std::string> failing;
  std::set<std::string> silent;                // when asked for their time
  std::map<std::string, std::string> machine;  // of hosts that share one
  std::map<std::string, std::deque<LinkResult>> links;  // by who measures
  std::string lost_while_measuring;
  std::map<std::string, std::size_t> asked;
  std::vector<std::string> measured;  // by whom

 private:
  void Prove(const std::string& name) {
    const auto shared = machine.find(name);
    const std::string& id = shared == machine.end() ? name : shared->second;
    const AgentAbout about{.version = "1", .host_name = name};
    HostInterfaces found;
    found.host = name;
    found.identity = id;
    watcher_.on_host(found, name == "a" ? nullptr : &about);
    env_.networks[name].ring_address = "10.0.0." + name;
    handlers_.on_proved(name);
  }
  void Later(std::function<void()> fn) { loop_.Post(std::move(fn)); }

  EventLoop& loop_;
  JobEnv& env_;
  Watcher watcher_;
  Handlers handlers_;
};

struct Check {
  EventLoop loop;
  JobEnv env;
  FakeProver prover{loop, env};

  HostsReport Run(const std::vector<std::string>& names) {
    HostList hosts;
    for (const std::string& name : names) hosts.push_back({name, 1});
    HostsCheck check(loop, prover, env, {.hosts = hosts, .version = "1"});
    int done = 0;
    check.Start([&] { ++done; });
    REQUIRE(PumpUntil(
        loop, [&] { return done > 0; }, kPatience));
    CHECK(done == 1);
    return check.Report({ErrorCode::kTimeout, "never to be seen"});
  }
};

}  // namespace

TEST_CASE("every host is asked for its time and measures the way to the next",
          "[cmd]") {
  Check check;
  const HostsReport report = check.Run({"a", "b", "c"});
  CHECK(check.prover.asked ==
        std::map<std::string, std::size_t>{{"b", HostsCheck::kClockQuestions},
                                           {"c", HostsCheck::kClockQuestions}});
  CHECK(report.hosts[1].clock.has_value());
  CHECK(report.hosts[1].place.address == "10.0.0.b");
  REQUIRE(report.links.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(report.links[i].from == i);
    CHECK(report.links[i].to == (i + 1) % 3);
    CHECK(report.links[i].result.ok());
  }
  CHECK(UnusableText(report.hosts).empty());
}

TEST_CASE("the check of hosts goes on without one that fails", "[cmd]") {
  Check check;
  check.prover.failing = {"b"};
  const HostsReport report = check.Run({"a", "b", "c"});
  CHECK(UnusableText(report.hosts) == "host b cannot be used");
  REQUIRE(report.links.size() == 2);
  CHECK(report.links[0].to == 2);
}

TEST_CASE("where all hosts fail there is nothing to measure", "[cmd]") {
  Check check;
  check.prover.failing = {"b", "c"};
  CHECK(check.Run({"b", "c"}).links.empty());
  CHECK(check.prover.asked.empty());
}

TEST_CASE("what lies between two names of one machine is not measured",
          "[cmd]") {
  Check check;
  check.prover.machine = {{"c", "b"}};
  const HostsReport report = check.Run({"a", "b", "c"});
  CHECK(report.links.size() == 2);
  CHECK(check.prover.measured == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a host that is lost while it measures ends nothing else", "[cmd]") {
  Check check;
  check.prover.lost_while_measuring = "b";
  const HostsReport report = check.Run({"a", "b", "c", "d"});
  CHECK(UnusableText(report.hosts) == "host b cannot be used");
  CHECK(report.hosts[1].error->message() == "host b: gone");
  CHECK(report.links[0].result.ok());
  CHECK(report.links[1].result.failure == "the host was lost meanwhile");
  CHECK(report.links[2].result.ok());
}

TEST_CASE("a link that was slow by chance is not slow the second time",
          "[cmd]") {
  Check check;
  check.prover.links["b"] = {Rate(1), Rate(900)};
  check.prover.links["c"] = {Rate(1), Rate(2)};
  const HostsReport report = check.Run({"a", "b", "c", "d"});
  CHECK(check.prover.measured.size() == 6);
  CHECK(report.links[1].result == Rate(900));
  CHECK(report.links[2].result == Rate(2));
  CHECK(report.slow_links().links == std::vector<std::size_t>{2});
}

TEST_CASE("a second look at a slow link never makes it worse", "[cmd]") {
  Check check;
  check.prover.links["b"] = {Rate(2), LinkResult{.failure = "gone"}};
  CHECK(check.Run({"a", "b", "c"}).links[1].result == Rate(2));
}

TEST_CASE("a clock that does not answer is not waited for", "[cmd]") {
  Check check;
  check.prover.silent = {"b"};
  const HostsReport report = check.Run({"a", "b"});
  CHECK_FALSE(report.hosts[1].clock.has_value());
  CHECK(report.links.size() == 2);
}

TEST_CASE("a check that is cut short reports whom it did not hear of",
          "[cmd]") {
  Check check;
  HostsCheck cut(check.loop, check.prover, check.env,
                 {.hosts = {{"a", 1}, {"b", 1}}, .version = "1"});
  cut.Start([] { FAIL(); });
  const HostsReport report = cut.Report({ErrorCode::kTimeout, "time was up"});
  CHECK(report.hosts[0].error->message() == "host a: time was up");
  CHECK(UnusableText(report.hosts) == "2 of 2 hosts cannot be used: a, b");
}

}  // namespace hvd
