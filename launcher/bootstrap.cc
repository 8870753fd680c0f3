#include "launcher/bootstrap.h"

namespace hvd {

std::string_view PhaseName(StartPhase phase) {
  switch (phase) {
    case StartPhase::kResolve:
      return "resolve";
    case StartPhase::kConnect:
      return "connect";
    case StartPhase::kAuthenticate:
      return "authenticate";
    case StartPhase::kAgentStarts:
      return "agent starts";
    case StartPhase::kAgentAnswers:
      return "agent answers";
    case StartPhase::kInterfaceProof:
      return "interface proof";
  }
  return "";
}

}  // namespace hvd
