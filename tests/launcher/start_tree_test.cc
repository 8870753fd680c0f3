#include "launcher/start_tree.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace hvd {
namespace {

constexpr const char* kHvdrun = StartTree::kHvdrun;

// Starts one more; who does, or "nobody".
std::string Start(StartTree& tree) {
  const std::optional<std::string> starter = tree.Choose();
  if (!starter) return "nobody";
  tree.Begin(*starter);
  return *starter;
}

// Starts one that arrives at once, and may start others.
std::string Grow(StartTree& tree, const std::string& host) {
  const std::string starter = Start(tree);
  tree.Arrive(starter);
  tree.Add(host);
  return starter;
}

}  // namespace

TEST_CASE("StartTree lets hvdrun start the first hosts, and those the next",
          "[launcher]") {
  StartTree tree({.fan_out = 2});
  CHECK(Grow(tree, "b") == kHvdrun);
  CHECK(Grow(tree, "c") == kHvdrun);
  CHECK(Grow(tree, "d") == "b");
  CHECK(Grow(tree, "e") == "c");
  CHECK(Grow(tree, "f") == "d");  // it has started none yet
  CHECK(Grow(tree, "g") == "e");
}

TEST_CASE("StartTree waits for a host on its way while nobody has room",
          "[launcher]") {
  StartTree tree({.fan_out = 1});
  CHECK(Start(tree) == kHvdrun);
  CHECK(Start(tree) == "nobody");
  SECTION("it comes, and has room") {
    tree.Arrive(kHvdrun);
    tree.Add("b");
    CHECK(Start(tree) == "b");
  }
  SECTION("it comes to nothing, and its place is free") {
    tree.End(kHvdrun, false);
    CHECK(Start(tree) == kHvdrun);
  }
}

TEST_CASE("StartTree lets hvdrun start what nobody else has room for",
          "[launcher]") {
  StartTree tree({.fan_out = 1});
  CHECK(Grow(tree, "b") == kHvdrun);
  tree.Remove("b");  // and hvdrun's place is still taken
  CHECK(Start(tree) == kHvdrun);
  CHECK(Start(tree) == "nobody");
}

TEST_CASE("StartTree gives the work of a host that cannot start to hvdrun",
          "[launcher]") {
  StartTree tree({.fan_out = 2});
  for (const char* host : {"b", "c"}) CHECK(Grow(tree, host) == kHvdrun);
  CHECK(Start(tree) == "b");
  tree.End("b", false);
  tree.Spoil("b");
  CHECK(Start(tree) == kHvdrun);
  CHECK(Start(tree) == kHvdrun);
  CHECK(Start(tree) == "c");
  tree.Absolve("b");
  CHECK(Start(tree) == "b");
}

TEST_CASE("StartTree has no more on their way from one machine than it may",
          "[launcher]") {
  StartTree tree({.fan_out = 4, .at_once = 1});
  CHECK(Grow(tree, "b") == kHvdrun);
  CHECK(Start(tree) == kHvdrun);
  CHECK(Start(tree) == "b");
  CHECK(Start(tree) == "nobody");
  CHECK(tree.ChooseHvdrun() == std::nullopt);
  tree.Arrive(kHvdrun);
  CHECK(tree.ChooseHvdrun() == kHvdrun);
  CHECK(Start(tree) == kHvdrun);
}

TEST_CASE("StartTree forgets what a lost host had begun", "[launcher]") {
  StartTree tree({.fan_out = 1});
  CHECK(Grow(tree, "b") == kHvdrun);
  CHECK(Start(tree) == "b");
  tree.Remove("b");
  tree.End("b", false);
  CHECK(Start(tree) == kHvdrun);  // nobody is on its way any more
}

// Hosts that come, fail and are lost at random until all are there.
namespace {

class Walk {
 public:
  Walk(unsigned seed, int hosts)
      : random_(seed),
        limits_{1 + static_cast<int>(random_() % 4),
                1 + static_cast<int>(random_() % 3)},
        tree_(limits_) {
    for (int i = 0; i < hosts; ++i) {
      hosts_["h" + std::to_string(i)] = {random_() % 4 != 0};
    }
  }

  void Run() {
    constexpr int kTroubled = 400;  // steps in which hosts fail and are lost
    constexpr int kSteps = 4000;
    for (int step = 0; step < kSteps && !Done(); ++step) {
      StartWaiting();
      CheckNumbers();
      Step(step < kTroubled);
    }
    CHECK(Done());
  }

 private:
  enum class Is { kWaiting, kOnItsWay, kHere };
  struct Host {
    bool can_start = true;
    Is is = Is::kWaiting;
    std::string starter = {};  // "lost": none any more
    bool only_hvdrun = false;
  };

  bool Done() const { return Count(Is::kHere) == hosts_.size(); }
  std::size_t Count(Is is) const {
    return static_cast<std::size_t>(
        std::count_if(hosts_.begin(), hosts_.end(),
                      [&](const auto& host) { return host.second.is == is; }));
  }

  void StartWaiting() {
    for (auto& [name, host] : hosts_) {
      if (host.is != Is::kWaiting) continue;
      const auto starter =
          host.only_hvdrun ? tree_.ChooseHvdrun() : tree_.Choose();
      if (!starter) continue;
      if (*starter != kHvdrun && hosts_.at(*starter).is != Is::kHere) {
        FAIL(*starter << ", which is not here, is to start " << name);
      }
      tree_.Begin(*starter);
      host.is = Is::kOnItsWay;
      host.starter = *starter;
    }
    // Whoever waits, waits for somebody.
    if (Count(Is::kWaiting) > 0 && Count(Is::kOnItsWay) == 0) {
      FAIL("hosts wait, and none is on its way");
    }
  }

  void CheckNumbers() const {
    std::map<std::string, int> started;
    std::map<std::string, int> on_their_way;
    for (const auto& [name, host] : hosts_) {
      if (host.is != Is::kWaiting) ++started[host.starter];
      if (host.is == Is::kOnItsWay) ++on_their_way[host.starter];
    }
    for (const auto& [starter, count] : on_their_way) {
      if (count > limits_.at_once)
        FAIL(starter << " has too many on their way");
    }
    for (const auto& [starter, count] : started) {
      const bool may_have_more = starter == kHvdrun || starter == "lost";
      if (count > limits_.fan_out && !may_have_more) {
        FAIL(starter << " has started too many");
      }
    }
  }

  void Step(bool troubled) {
    auto at = hosts_.begin();
    std::advance(at, random_() % hosts_.size());
    auto& [name, host] = *at;
    if (host.is == Is::kOnItsWay) {
      const bool blocked =
          host.starter != kHvdrun && !hosts_.at(host.starter).can_start;
      if (blocked || (troubled && random_() % 3 == 0)) {
        Fail(host, blocked);
      } else {
        host.is = Is::kHere;
        tree_.Arrive(host.starter);
        tree_.Add(name);
      }
    } else if (host.is == Is::kHere && troubled && random_() % 3 == 0) {
      Lose(name, host);
    }
  }
  void Fail(Host& host, bool blocked) {
    tree_.End(host.starter, false);
    if (blocked) tree_.Spoil(host.starter);
    host.only_hvdrun = host.starter != kHvdrun;
    host.is = Is::kWaiting;
  }
  void Lose(const std::string& name, Host& host) {
    tree_.Remove(name);
    tree_.End(host.starter, true);
    host = {host.can_start};
    for (auto& [other, its] : hosts_) {
      if (its.is == Is::kWaiting || its.starter != name) continue;
      if (its.is == Is::kOnItsWay) its.is = Is::kWaiting;
      its.starter = "lost";
    }
  }

  std::mt19937 random_;
  StartTree::Limits limits_;
  StartTree tree_;
  std::map<std::string, Host> hosts_;
};

}  // namespace

TEST_CASE("StartTree brings every host there whoever fails and is lost",
          "[launcher]") {
  const auto seed = GENERATE(take(100, random(0U, ~0U)));
  INFO("seed " << seed);
  Walk(seed, 24).Run();
}

}  // namespace hvd
