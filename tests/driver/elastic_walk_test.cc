// Every interleaving of what can happen to a small elastic job, to a depth; and
// random walks that go further. And the proof that a walk finds what it is for.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <unordered_set>

#include "tests/driver/elastic_model.h"

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

bool InSoak() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  return std::getenv("HVD_SOAK") != nullptr;
}

std::uint32_t Seed() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* given = std::getenv("HVD_SEED");
  return given != nullptr ? static_cast<std::uint32_t>(std::stoul(given))
                          : std::random_device{}();
}

}  // namespace

TEST_CASE("no interleaving of joins, losses and host changes stalls a job",
          "[driver][unit]") {
  const std::size_t most = InSoak() ? 2'000'000 : 12'000;
  for (const Job& job : Jobs()) {
    CAPTURE(job.name);
    const Walked walked = WalkAll(job, most);
    CHECK(walked.violation == "");
    std::cout << job.name << ": " << walked.states << " states, all to depth "
              << walked.depth << '\n';
  }
}

TEST_CASE("no random walk of an elastic job breaks a rule", "[driver][unit]") {
  const std::uint32_t seed = Seed();
  const std::uint32_t walks = InSoak() ? 100'000 : 1'000;
  for (const Job& job : Jobs()) {
    for (std::uint32_t i = 0; i < walks; ++i) {
      CAPTURE(job.name, seed + i);  // HVD_SEED=<that> runs it first
      REQUIRE(WalkAtRandom(job, seed + i, 150) == "");
    }
  }
}

}  // namespace hvd::testing
