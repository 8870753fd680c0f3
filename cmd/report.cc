#include "cmd/report.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/seconds.h"
#include "base/shell_quote.h"
#include "cmd/exit_code.h"
#include "cmd/reset_lines.h"
#include "driver/explain.h"
#include "driver/worker_registry.h"

namespace hvd {
namespace {

using Json = nlohmann::ordered_json;

const WorkerEnd* FirstFailed(const Outcome& outcome) {
  return outcome.first_failed ? &*outcome.first_failed : nullptr;
}

bool IsFirstFailed(const Outcome& outcome, const WorkerEnd& worker) {
  return outcome.first_failed && outcome.first_failed->launch == worker.launch;
}

// "rank 2 on a (pid 4711)"
std::string Who(const WorkerEnd& worker) {
  std::string who =
      "rank " + std::to_string(worker.rank) + " on " + worker.worker.host;
  if (worker.pid) who += " (pid " + std::to_string(*worker.pid) + ')';
  return who;
}

std::string How(const ExitStatus& status) {
  return status.signal != 0 ? "was killed by " + SignalName(status.signal)
                            : "exited with code " + std::to_string(status.code);
}

std::string ErrorLine(const Outcome& outcome) {
  const WorkerEnd* failed = FirstFailed(outcome);
  if (outcome.verdict != Verdict::kWorkerFailed || failed == nullptr ||
      !failed->status) {
    return "error: " + outcome.reason;
  }
  std::string line = "error: " + Who(*failed) + ' ' + How(*failed->status);
  if (failed->ended_at && failed->started_at &&
      *failed->ended_at > *failed->started_at) {
    line += " after " + SecondsText(*failed->ended_at - *failed->started_at);
  }
  return line;
}

std::string Hint(const Outcome& outcome) {
  const WorkerEnd* failed = FirstFailed(outcome);
  if (outcome.verdict == Verdict::kWorkerFailed && failed != nullptr &&
      failed->status && failed->status->signal == SIGKILL) {
    return "hvdrun did not send it; if nobody else did, it was the "
           "out-of-memory killer of " +
           failed->worker.host + ": see dmesg or journalctl -k there";
  }
  return outcome.hint;
}

// Of a worker that is not the cause.
std::string VictimText(const WorkerEnd& worker) {
  if (worker.host_lost) return "went with host " + worker.worker.host;
  if (!worker.status) return worker.pid ? "still running" : "never started";
  const ExitStatus& status = *worker.status;
  if (!worker.told_to_stop) {
    return status.success() ? "had exited with 0" : How(status);
  }
  return status.signal != 0
             ? "killed by hvdrun (" + SignalName(status.signal) + ')'
             : "exited with code " + std::to_string(status.code) +
                   " when told to stop";
}

// "ranks 0-1 exited with code 1 when told to stop; rank 3 killed by hvdrun ..."
std::string VictimsText(const Outcome& outcome) {
  const bool any_started = std::any_of(
      outcome.workers.begin(), outcome.workers.end(),
      [](const WorkerEnd& worker) { return worker.pid.has_value(); });
  if (!any_started) return "";
  std::vector<std::string> order;
  std::map<std::string, std::vector<int>> ranks;
  for (const WorkerEnd& worker : outcome.workers) {
    if (IsFirstFailed(outcome, worker)) continue;
    const std::string how = VictimText(worker);
    if (ranks[how].empty()) order.push_back(how);
    ranks[how].push_back(worker.rank);
  }
  std::string text;
  for (const std::string& how : order) {
    text += (text.empty() ? "" : "; ") + RankText(ranks[how]) + ' ' + how;
  }
  return text;
}

void AppendStderr(const std::string& tail, std::vector<std::string>& lines) {
  if (tail.empty()) return;
  lines.emplace_back("its last lines on stderr:");
  std::size_t at = 0;
  while (at < tail.size()) {
    const std::size_t newline = std::min(tail.find('\n', at), tail.size());
    lines.push_back("  | " + tail.substr(at, newline - at));
    at = newline + 1;
  }
}

Json Milliseconds(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

Json ExitJson(const std::optional<ExitStatus>& status) {
  if (!status) return nullptr;
  if (status->signal == 0) return {{"code", status->code}};
  return {{"signal", status->signal},
          {"signal_name", SignalName(status->signal)}};
}

Json WorkerJson(const WorkerEnd& worker) {
  Json json = {{"rank", worker.rank},
               {"host", worker.worker.host},
               {"slot", worker.worker.slot},
               {"pid", worker.pid ? Json(*worker.pid) : Json(nullptr)},
               {"exit", ExitJson(worker.status)},
               {"told_to_stop", worker.told_to_stop}};
  if (worker.host_lost) json["host_lost"] = true;
  if (worker.start_error) json["start_error"] = worker.start_error->message();
  json["started_ms"] = Milliseconds(worker.started_at);
  json["joined_ms"] = Milliseconds(worker.joined_at);
  json["ended_ms"] = Milliseconds(worker.ended_at);
  return json;
}

Json FirstFailureJson(const JobReport& report) {
  const WorkerEnd* failed = FirstFailed(report.outcome);
  if (failed == nullptr) return nullptr;
  Json json = WorkerJson(*failed);
  json["stderr"] = report.first_failure_stderr;
  json["stderr_file"] = report.first_failure_log.empty()
                            ? Json(nullptr)
                            : Json(report.first_failure_log);
  return json;
}

// "2026-11-30T19:28:17.123456Z"
std::string UtcText(std::chrono::system_clock::time_point when) {
  const auto second = std::chrono::floor<std::chrono::seconds>(when);
  const auto us = std::chrono::floor<Moment>(when - second).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(second);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s.%06dZ", day.data(),
                static_cast<int>(us));
  return text.data();
}

// Milliseconds, to the microsecond.
double Milliseconds(Moment moment) {
  return static_cast<double>(moment.count()) / 1000;
}

Json ResetJson(const Reset& reset) {
  return {{"epoch", static_cast<std::uint64_t>(reset.epoch)},
          {"why", reset.why},
          {"size_before", reset.size_before},
          {"size_after", reset.size_after},
          {"seen_ms", Milliseconds(reset.seen)},
          {"published_ms", Milliseconds(reset.published)},
          {"formed_ms",
           reset.formed ? Json(Milliseconds(*reset.formed)) : Json(nullptr)}};
}

Json RanksJson(const Outcome& outcome, bool victims) {
  Json ranks = Json::array();
  for (const WorkerEnd& worker : outcome.workers) {
    const bool succeeded =
        worker.status && worker.status->success() && !worker.told_to_stop;
    if (!IsFirstFailed(outcome, worker) && succeeded != victims) {
      ranks.push_back(worker.rank);
    }
  }
  return ranks;
}

}  // namespace

std::vector<std::string> ReportLines(const JobReport& report) {
  const Outcome& outcome = report.outcome;
  std::vector<std::string> lines;
  if (outcome.verdict != Verdict::kSucceeded) {
    lines.push_back(ErrorLine(outcome));
    const std::string hint = Hint(outcome);
    if (!hint.empty()) lines.push_back("hint: " + hint);
    if (outcome.first_failed) {
      AppendStderr(report.first_failure_stderr, lines);
      if (!report.first_failure_log.empty()) {
        lines.push_back("all of its stderr: " +
                        ShellQuote(report.first_failure_log));
      }
    }
    const std::string victims = VictimsText(outcome);
    if (!victims.empty()) lines.push_back("the others: " + victims);
  }
  for (std::string& line : ResetLines(outcome.resets)) {
    lines.push_back(std::move(line));
  }
  lines.push_back(ExitLine(outcome));
  return lines;
}

std::string ReportJson(const JobReport& report) {
  const Outcome& outcome = report.outcome;
  const Timeline& t = outcome.timeline;
  Json json = {{"hvdrun", report.version},
               {"started", UtcText(report.started)},
               {"command", report.command},
               {"verdict", ToText(outcome.verdict)},
               {"exit_code", ExitCodeOf(outcome)},
               {"reason", outcome.reason},
               {"first_failure", FirstFailureJson(report)},
               {"victims", RanksJson(outcome, true)},
               {"succeeded", RanksJson(outcome, false)},
               {"epoch", static_cast<std::uint64_t>(outcome.epoch)},
               {"phases_ms",
                {{"slots_found", Milliseconds(t.published)},
                 {"all_started", Milliseconds(t.all_started)},
                 {"all_joined", Milliseconds(t.all_joined)},
                 {"stopping", Milliseconds(t.stopping)},
                 {"ended", t.ended.count()}}},
               {"failures", outcome.failures},
               {"resets", Json::array()},
               {"workers", Json::array()}};
  for (const Reset& reset : outcome.resets) {
    json["resets"].push_back(ResetJson(reset));
  }
  for (const WorkerEnd& worker : outcome.workers) {
    json["workers"].push_back(WorkerJson(worker));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace hvd
