#include "driver/explain.h"

#include <cstdio>

#include "base/overloaded.h"
#include "base/seconds.h"

namespace hvd {
namespace {

std::string Number(LaunchId launch) {
  return std::to_string(static_cast<int>(launch));
}

std::string Number(Epoch epoch) {
  return std::to_string(static_cast<std::uint64_t>(epoch));
}

std::string Text(const ExitStatus& status) {
  return status.signal != 0 ? SignalName(status.signal)
                            : "code=" + std::to_string(status.code);
}

std::string Text(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid-argument";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "";
}

std::string Text(const World& world) {
  std::string text = "epoch=" + Number(world.epoch);
  int rank = 0;
  for (const WorkerId& worker : world.workers) {
    text += ' ' + ToString(worker) + '=' + std::to_string(rank++);
  }
  return text;
}

// "[2 code=3]", "[0 SIGTERM stopped]", "[1 not-started]"
std::string Text(const WorkerEnd& worker) {
  std::string text = " [" + std::to_string(worker.rank) + ' ';
  if (worker.status) {
    text += Text(*worker.status);
  } else if (worker.host_lost) {
    text += "lost";
  } else {
    text += worker.pid ? "not-ended" : "not-started";
  }
  return text + (worker.told_to_stop ? " stopped]" : "]");
}

std::string Text(const Outcome& outcome) {
  std::string text = "end " + ToText(outcome.verdict);
  if (outcome.first_failed) {
    text += " rank=" + std::to_string(outcome.first_failed->rank);
  }
  for (const WorkerEnd& worker : outcome.workers) text += Text(worker);
  return outcome.reason.empty() ? text : text + ": " + outcome.reason;
}

// What follows the word of an event.
std::string Details(const Event& event) {
  return std::visit(
      Overloaded{
          [](const HostsDiscovered& e) {
            std::string text;
            for (const HostSlots& host : e.hosts) text += ' ' + ToString(host);
            return text;
          },
          [](const DiscoveryFailed& e) { return ": " + e.error.message(); },
          [](const WorkerStarted& e) {
            return " launch=" + Number(e.launch) +
                   " pid=" + std::to_string(e.pid);
          },
          [](const WorkerStartFailed& e) {
            return " launch=" + Number(e.launch) + ' ' + Text(e.error.code()) +
                   ": " + e.error.message();
          },
          [](const WorkerReady& e) {
            return ' ' + ToString(e.worker) + " after=" + Number(e.after);
          },
          [](const WorkerHeard& e) {
            return ' ' + ToString(e.worker) + " epoch=" + Number(e.epoch) +
                   " operations=" + std::to_string(e.operations);
          },
          [](const WorkerBlames& e) {
            return ' ' + ToString(e.worker) + " epoch=" + Number(e.epoch) +
                   " rank=" + std::to_string(e.rank);
          },
          [](const WorkerMisplaced& e) { return ' ' + ToString(e.worker); },
          [](const WorkerStopped& e) { return " launch=" + Number(e.launch); },
          [](const WorkerExited& e) {
            return " launch=" + Number(e.launch) + ' ' + Text(e.status);
          },
          [](const HostLost& e) {
            return ' ' + e.host + ": " + e.error.message();
          },
          [](const SignalReceived& e) { return ' ' + SignalName(e.signo); },
          [](const LauncherLost& e) { return ": " + e.error.message(); },
          [](const Tick&) { return std::string(); },
      },
      event);
}

}  // namespace

std::string_view EventWord(const Event& event) {
  return std::visit(
      Overloaded{
          [](const HostsDiscovered&) { return "hosts"; },
          [](const DiscoveryFailed&) { return "discovery-failed"; },
          [](const WorkerStarted&) { return "started"; },
          [](const WorkerStartFailed&) { return "start-failed"; },
          [](const WorkerReady&) { return "ready"; },
          [](const WorkerHeard&) { return "heard"; },
          [](const WorkerBlames&) { return "blame"; },
          [](const WorkerMisplaced&) { return "misplaced"; },
          [](const WorkerStopped&) { return "stopped"; },
          [](const WorkerExited&) { return "exit"; },
          [](const HostLost&) { return "host-lost"; },
          [](const SignalReceived&) { return "signal"; },
          [](const LauncherLost&) { return "launcher-lost"; },
          [](const Tick&) { return "tick"; },
      },
      event);
}

std::string ToText(const Event& event) {
  return std::string(EventWord(event)) + Details(event);
}

std::string ToText(const Action& action) {
  return std::visit(
      Overloaded{
          [](const PublishWorld& a) { return "publish " + Text(a.world); },
          [](const StartWorker& a) {
            return "start launch=" + Number(a.launch) + ' ' +
                   ToString(a.worker) + " rank=" + std::to_string(a.rank) +
                   (a.restarts == 0
                        ? ""
                        : " restarts=" + std::to_string(a.restarts));
          },
          [](const StopWorker& a) {
            return "stop launch=" + Number(a.launch) + ' ' +
                   SignalName(a.first_signal) +
                   " grace=" + SecondsText(a.grace);
          },
          [](const NotifyLoss& a) {
            return "notify epoch=" + Number(a.epoch) +
                   " rank=" + std::to_string(a.rank) +
                   (a.silent ? " silent: " : ": ") + a.text;
          },
          [](const Say& a) { return "say: " + a.text; },
          [](const EndJob& a) { return Text(a.outcome); },
      },
      action);
}

std::string ToText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSucceeded:
      return "succeeded";
    case Verdict::kSignalled:
      return "signalled";
    case Verdict::kTimedOut:
      return "timed-out";
    case Verdict::kNotFound:
      return "command-not-found";
    case Verdict::kCannotRun:
      return "command-cannot-run";
    case Verdict::kWorkerFailed:
      return "worker-failed";
    case Verdict::kLauncherFailed:
      return "launcher-failed";
  }
  return "";
}

std::string TimeText(Duration since) {
  std::string seconds = SecondsText(since);
  seconds.resize(seconds.size() - 2);  // without the unit
  return "t=" + seconds;
}

std::string Explain(Duration since, const Event& event,
                    const std::vector<Action>& actions) {
  if (std::holds_alternative<Tick>(event) && actions.empty()) return "";
  std::string text = TimeText(since) + ' ' + ToText(event);
  for (const Action& action : actions) text += "\n  " + ToText(action);
  return text;
}

}  // namespace hvd
