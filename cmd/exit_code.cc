#include "cmd/exit_code.h"

namespace hvd {
namespace {

constexpr int kExitTimeout = 124;
constexpr int kExitCannotRun = 126;
constexpr int kExitNotFound = 127;
constexpr int kSignalBase = 128;

constexpr ExitRule kRules[] = {
    {"all workers exited with 0, none had to be stopped", "0"},
    {"hvdrun was ended by INT, TERM or HUP", "130, 143, 129"},
    {"--timeout", "124"},
    {"the command was not found, can't be run", "127, 126"},
    {"a worker failed: the first one's own code", "1-255"},
    {"a worker was killed by signal S", "128 + S"},
    {"anything else: flags, no slots, no join in time, our fault", "125"},
};

int CodeOfFailedWorker(const Outcome& outcome) {
  const std::optional<WorkerEnd>& failed = outcome.first_failed;
  return failed && failed->status ? failed->status->ToShell() : kExitOwnFault;
}

std::string Line(int code, const std::string& why) {
  return "exit code " + std::to_string(code) + ": " + why;
}

}  // namespace

std::span<const ExitRule> ExitRules() { return kRules; }

int ExitCodeOf(const Outcome& outcome) {
  switch (outcome.verdict) {
    case Verdict::kSucceeded:
      return 0;
    case Verdict::kSignalled:
      return kSignalBase + outcome.signo;
    case Verdict::kTimedOut:
      return kExitTimeout;
    case Verdict::kNotFound:
      return kExitNotFound;
    case Verdict::kCannotRun:
      return kExitCannotRun;
    case Verdict::kWorkerFailed:
      return CodeOfFailedWorker(outcome);
    case Verdict::kLauncherFailed:
      return kExitOwnFault;
  }
  return kExitOwnFault;
}

std::string ExitLine(const Outcome& outcome) {
  const std::size_t n = outcome.workers.size();
  const std::string all =
      n == 1 ? "the worker" : "all " + std::to_string(n) + " workers";
  return Line(ExitCodeOf(outcome), outcome.verdict == Verdict::kSucceeded
                                       ? all + " exited with 0"
                                       : outcome.reason);
}

std::string ExitLineOfRefusal() {
  return Line(kExitOwnFault, "nothing was started");
}

}  // namespace hvd
