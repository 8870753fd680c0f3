#include "cmd/simulate.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/seconds.h"
#include "cmd/exit_code.h"
#include "cmd/job_plan.h"
#include "simulation/decision_log.h"
#include "simulation/decision_times.h"
#include "simulation/simulated_job.h"

namespace hvd {
namespace {

std::string Count(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

// "13 resets, from cause to whole world 2.1 s (median), at most 31.4 s"
std::string ResetsText(const std::vector<Reset>& resets) {
  std::string text = Count(resets.size(), "reset");
  std::vector<Duration> took;
  for (const Reset& reset : resets) {
    if (!reset.formed) continue;
    took.push_back(
        std::chrono::duration_cast<Duration>(*reset.formed - reset.seen));
  }
  if (took.empty()) return text;
  std::sort(took.begin(), took.end());
  return text + ", from the cause to a whole world " +
         SecondsText(took[(took.size() - 1) / 2]) + " (median), at most " +
         SecondsText(took.back());
}

std::string OutcomeText(const Outcome& outcome) {
  const auto epoch = static_cast<std::uint64_t>(outcome.epoch);
  return "simulated: " + SecondsText(outcome.timeline.ended) + ", epoch " +
         std::to_string(epoch) + ", " +
         Count(static_cast<std::size_t>(outcome.failures), "failure") + ", " +
         ResetsText(outcome.resets) + '\n' + ExitLine(outcome);
}

}  // namespace

int Simulate(const Settings& settings, const Clock& stopwatch,
             const std::function<void(const std::string& lines)>& print) {
  const auto detail = settings.verbose ? DecisionLog::Detail::kFull
                                       : DecisionLog::Detail::kShort;
  DecisionLog log(detail, print);
  DecisionTimes times;
  SimulatedJob job(
      {.spec = *settings.simulation,
       .driver = MakeDriverOptions(settings),
       .collective_timeout = settings.collective_timeout,
       .discovery_interval = settings.elasticity.discovery_interval},
      stopwatch,
      {.on_decision =
           [&](const Decision& decision) {
             log.Add(decision);
             times.Add(decision);
           },
       .on_fault = [&](Duration at,
                       const std::string& text) { log.AddFault(at, text); }});
  const std::optional<Outcome> outcome = job.Run();
  log.Finish();
  print('\n' + times.Table() + '\n');
  if (!outcome) {
    print(
        "the job did not end, though all its limits are over: no worker came "
        "(start=), or this is a bug");
    return kExitOwnFault;
  }
  print(OutcomeText(*outcome));
  return ExitCodeOf(*outcome);
}

}  // namespace hvd
