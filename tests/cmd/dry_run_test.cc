#include "cmd/dry_run.h"

#include <catch2/catch.hpp>

#include "rendezvous/worker_env.h"
#include "tests/cmd/golden.h"

namespace hvd {
namespace {

DryRunPlan Plan() {
  DryRunPlan plan;
  plan.hosts = {{"localhost", 2}, {"::1", 1}, {"127.0.0.2", 4}};
  plan.world = {Epoch{1}, {{"localhost", 0}, {"localhost", 1}, {"::1", 0}}};
  plan.command = {"./train", "--note", "it's a b"};
  for (int rank = 0; rank < 3; ++rank) {
    plan.added.push_back({{"A", "same for all"},
                          {"HVD_JOB_KEY", "00ff"},
                          {"MASTER_PORT", "0"},
                          {"RANK", std::to_string(rank)}});
  }
  return plan;
}

}  // namespace

TEST_CASE("a dry run shows hosts, ranks, environment and commands",
          "[cmd][unit]") {
  REQUIRE(IsSecretVariable("HVD_JOB_KEY"));
  const std::string text = DryRunText(Plan());
  CHECK(text == testing::Golden("dry_run.txt", text));
}

TEST_CASE("a dry run shows no secret and no port that is yet to be chosen",
          "[cmd][unit]") {
  const std::string text = DryRunText(Plan());
  CHECK(text.find("00ff") == std::string::npos);
  CHECK(text.find("MASTER_PORT=<chosen at start>") != std::string::npos);
}

TEST_CASE("a dry run of one worker puts all of its variables below it",
          "[cmd][unit]") {
  DryRunPlan plan = Plan();
  plan.hosts = {{"localhost", 1}};
  plan.world = {Epoch{1}, {{"localhost", 0}}};
  plan.added.resize(1);
  CHECK(DryRunText(plan) ==
        "host localhost: 1 slot, rank 0\n"
        "\n"
        "rank 0 on localhost slot 0: ./train --note 'it'\\''s a b'\n"
        "  A='same for all'\n"
        "  HVD_JOB_KEY=<secret>\n"
        "  MASTER_PORT=<chosen at start>\n"
        "  RANK=0\n");
}

}  // namespace hvd
