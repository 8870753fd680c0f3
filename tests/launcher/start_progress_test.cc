#include "launcher/start_progress.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("WaitingText says who is missing, where, why and how often",
          "[launcher]") {
  CHECK(WaitingText({{"b", StartPhase::kConnect, "Connection refused", 3},
                     {"c", StartPhase::kAgentStarts, "", 1},
                     {"d", StartPhase::kInterfaceProof, "", 2},
                     {"e", StartPhase::kConnect, "", 0}}) ==
        "waiting for hosts: b (connect: Connection refused, try 3), "
        "c (agent starts), d (interface proof, try 2), e (its turn)");
}

TEST_CASE("WaitingText is empty when none is missing, and never long",
          "[launcher]") {
  CHECK(WaitingText({}).empty());
  std::vector<MissingHost> many;
  for (int i = 0; i < 512; ++i) {
    many.push_back({"h" + std::to_string(i), StartPhase::kResolve, "", 1});
  }
  const std::string text = WaitingText(many);
  CHECK(text.find("h9 (resolve) and 502 more") != std::string::npos);
  CHECK(text.size() < 300);
}

TEST_CASE("every phase has a name of its own", "[launcher]") {
  CHECK(PhaseName(StartPhase::kResolve) == "resolve");
  CHECK(PhaseName(StartPhase::kConnect) == "connect");
  CHECK(PhaseName(StartPhase::kAuthenticate) == "authenticate");
  CHECK(PhaseName(StartPhase::kAgentStarts) == "agent starts");
  CHECK(PhaseName(StartPhase::kAgentAnswers) == "agent answers");
  CHECK(PhaseName(StartPhase::kInterfaceProof) == "interface proof");
}

}  // namespace hvd
