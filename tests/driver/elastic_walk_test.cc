// Every interleaving of what can happen to a small elastic job, to a depth; and
// random walks that go further. And the proof that a walk finds what it is for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <unordered_set>

#include "tests/driver/elastic_model.h"
#include "tests/support/chance.h"

using namespace std::chrono_literals;

namespace hvd::testing {
namespace {

DriverOptions Options(int np, int min, std::optional<int> max) {
  DriverOptions options;
  options.workers = np;
  options.elastic = true;
  options.min_workers = min;
  options.max_workers = max;
  options.elastic_timeout = 60s;
  return options;
}

struct Job {
  std::string name;
  DriverOptions options;
  std::vector<HostList> menu;
};

std::vector<Job> Jobs() {
  return {
      {"one host", Options(2, 1, 2), {{{"a", 2}}, {{"a", 1}}}},
      {"a host comes and goes",
       Options(2, 2, 3),
       {{{"a", 2}}, {{"a", 1}, {"b", 1}}, {{"b", 2}, {"a", 1}}}},
      {"three hosts of two slots",
       Options(4, 2, std::nullopt),
       {{{"a", 2}, {"b", 2}}, {{"a", 2}, {"b", 2}, {"c", 2}}, {{"c", 2}}, {}}},
  };
}

std::string History(const std::vector<Move>& moves) {
  std::string text;
  for (const Move& move : moves) text += ToText(move) + "; ";
  return text;
}

struct Walked {
  std::size_t states = 0;
  int depth = 0;
  std::string violation;  // empty: none
};

struct Node {
  ElasticModel model;
  std::vector<Move> moves;
};

// Breadth first, each state once, until `most` states were seen.
Walked WalkAll(const Job& job, std::size_t most, const Fault* fault = nullptr) {
  Walked walked;
  std::unordered_set<std::string> seen;
  std::vector<Node> layer{{ElasticModel(job.options, job.menu, fault), {}}};
  layer.front().model.Do({Move::Kind::kHosts, 0});
  while (!layer.empty()) {
    std::vector<Node> next;
    for (const Node& node : layer) {
      std::vector<Move> moves = node.model.Duties();
      const std::vector<Move> hazards = node.model.Hazards();
      moves.insert(moves.end(), hazards.begin(), hazards.end());
      for (const Move& move : moves) {
        Node child = node;
        child.moves.push_back(move);
        try {
          child.model.Do(move);
          if (!seen.insert(child.model.Describe()).second) continue;
          if (child.model.ended()) continue;
          child.model.MustSettle();
        } catch (const Violation& violation) {
          walked.violation =
              std::string(violation.what()) + " after " + History(child.moves);
          return walked;
        }
        if (seen.size() >= most) {
          walked.states = seen.size();
          return walked;
        }
        next.push_back(std::move(child));
      }
    }
    ++walked.depth;
    layer = std::move(next);
  }
  walked.states = seen.size();
  return walked;
}

std::string WalkAtRandom(const Job& job, std::uint32_t seed, int steps,
                         const Fault* fault = nullptr) {
  std::mt19937 random(seed);
  const auto pick = [&](const std::vector<Move>& moves) {
    return moves[random() % moves.size()];
  };
  ElasticModel model(job.options, job.menu, fault);
  std::vector<Move> done;
  try {
    model.Do({Move::Kind::kHosts, 0});
    for (int step = 0; step < steps && !model.ended(); ++step) {
      const std::vector<Move> duties = model.Duties();
      const bool hazard = duties.empty() || random() % 8 == 0;
      const std::vector<Move> hazards = model.Hazards();
      if (hazard && hazards.empty()) break;
      done.push_back(pick(hazard ? hazards : duties));
      model.Do(done.back());
    }
    if (!model.ended()) model.MustSettle();
  } catch (const Violation& violation) {
    return std::string(violation.what()) + " after " + History(done);
  }
  return "";
}

struct SeededFault {
  std::string name;
  std::function<Fault()> make;
};

template <class ActionType>
void Drop(std::vector<Action>& actions) {
  std::erase_if(actions, [](const Action& action) {
    return std::holds_alternative<ActionType>(action);
  });
}

void BendWorlds(std::vector<Action>& actions,
                const std::function<void(World&)>& bend) {
  for (Action& action : actions) {
    if (auto* publish = std::get_if<PublishWorld>(&action))
      bend(publish->world);
  }
}

Fault Bends(std::function<void(std::vector<Action>&)> bends) {
  return {.bends = std::move(bends)};
}

std::vector<SeededFault> SeededFaults() {
  return {
      {"the second exit in one world is not counted (Horovod PR#1965)",
       [] {
         auto exits = std::make_shared<int>(0);
         return Fault{.hears = [exits](const Event& event) {
           return !std::holds_alternative<WorkerExited>(event) ||
                  ++*exits % 2 == 1;
         }};
       }},
      {"a newcomer that is ready is not noticed (Horovod #3014)",
       [] {
         return Fault{.hears = [](const Event& event) {
           const auto* ready = std::get_if<WorkerReady>(&event);
           return ready == nullptr || ready->after != Epoch{} ||
                  ready->worker.slot == 0;
         }};
       }},
      {"survivors that ask again are not noticed (Horovod #3494)",
       [] {
         return Fault{.hears = [](const Event& event) {
           const auto* ready = std::get_if<WorkerReady>(&event);
           return ready == nullptr || ready->after == Epoch{};
         }};
       }},
      {"one success ends the job (Horovod #3852)",
       [] {
         auto done = std::make_shared<bool>(false);
         return Fault{.hears =
                          [done](const Event& event) {
                            const auto* exit =
                                std::get_if<WorkerExited>(&event);
                            *done = exit != nullptr && exit->status.success();
                            return true;
                          },
                      .bends =
                          [done](std::vector<Action>& actions) {
                            if (*done) actions.emplace_back(EndJob{});
                          }};
       }},
      {"a lost worker is not replaced by a new world",
       [] {
         auto epochs = std::make_shared<int>(0);
         return Bends([epochs](std::vector<Action>& actions) {
           std::erase_if(actions, [&](const Action& action) {
             return std::holds_alternative<PublishWorld>(action) &&
                    ++*epochs == 2;
           });
         });
       }},
      {"a slot gets two workers",
       [] {
         return Bends([](std::vector<Action>& actions) {
           BendWorlds(actions, [](World& world) {
             world.workers.push_back(world.workers.front());
           });
         });
       }},
      {"the epoch does not grow",
       [] {
         return Bends([](std::vector<Action>& actions) {
           BendWorlds(actions, [](World& world) { world.epoch = Epoch{1}; });
         });
       }},
      {"a newcomer becomes rank 0",
       [] {
         return Bends([](std::vector<Action>& actions) {
           BendWorlds(actions, [](World& world) {
             std::reverse(world.workers.begin(), world.workers.end());
           });
         });
       }},
      {"a world is below the minimum",
       [] {
         return Bends([](std::vector<Action>& actions) {
           BendWorlds(actions, [](World& world) { world.workers.resize(1); });
         });
       }},
      {"workers are not started",
       [] {
         auto starts = std::make_shared<int>(0);
         return Bends([starts](std::vector<Action>& actions) {
           std::erase_if(actions, [&](const Action& action) {
             return std::holds_alternative<StartWorker>(action) &&
                    ++*starts > 2;
           });
         });
       }},
      {"a job that has ended goes on",
       [] {
         return Bends([](std::vector<Action>& actions) {
           if (!actions.empty() &&
               std::holds_alternative<EndJob>(actions.back())) {
             actions.emplace_back(Say{"one more thing"});
           }
         });
       }},
      {"the last of the ends is not told", [] { return Bends(Drop<EndJob>); }},
  };
}

}  // namespace

TEST_CASE("no interleaving of joins, losses and host changes stalls a job",
          "[driver][unit]") {
  const std::size_t most = InSoak() ? 400'000 : HVD_WALK_STATES;
  for (const Job& job : Jobs()) {
    CAPTURE(job.name);
    const Walked walked = WalkAll(job, most);
    CHECK(walked.violation == "");
    std::cout << job.name << ": " << walked.states << " states, all to depth "
              << walked.depth << '\n';
  }
}

TEST_CASE("no random walk of an elastic job breaks a rule", "[driver][unit]") {
  const std::uint32_t seed = ChooseSeed();
  const std::uint32_t walks = InSoak() ? 100'000 : HVD_RANDOM_WALKS;
  for (const Job& job : Jobs()) {
    for (std::uint32_t i = 0; i < walks; ++i) {
      CAPTURE(job.name, seed + i);  // HVD_SEED=<that> runs it first
      REQUIRE(WalkAtRandom(job, seed + i, 150) == "");
    }
  }
}

// The checker is checked: each of these is a driver that is wrong in one way.
TEST_CASE("the walk finds every seeded fault", "[driver][unit]") {
  for (const SeededFault& seeded : SeededFaults()) {
    CAPTURE(seeded.name);
    std::string found;
    for (const Job& job : Jobs()) {
      for (std::uint32_t seed = 0; seed < 300 && found.empty(); ++seed) {
        const Fault fresh = seeded.make();
        found = WalkAtRandom(job, seed, 150, &fresh);
      }
    }
    CHECK(found != "");
  }
}

}  // namespace hvd::testing
