#include "launcher/agent_starts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/seconds.h"
#include "launcher/start_progress.h"

namespace hvd {
namespace {

// Of one host: more of it explains nothing, and there may be hundreds of hosts.
constexpr std::size_t kMostKept = 12;
constexpr int kMostAtOnce = 200;
constexpr int kSpread = 16;

std::string Labelled(const std::string& host, std::string_view line) {
  return "ssh " + host + ": " + std::string(line);
}

}  // namespace

struct AgentStarts::Start {
  RemoteHost host;
  int ordinal = 0;  // among all that were ever wanted
  StartPhase phase = StartPhase::kConnect;
  int tries = 0;
  bool has_agent = false;
  bool ready = false;
  std::optional<BootstrapEnd> last_end;  // of the try before, while it says
                                         // more than the one that runs
  Duration pause{0};
  std::deque<std::string> chatter;
  int shown = 0;  // lines of it
  std::unique_ptr<Timer> deadline;
  std::unique_ptr<Timer> next_try;
  std::unique_ptr<BootstrapAttempt> attempt;
};

AgentStarts::AgentStarts(EventLoop& loop, Bootstrap& bootstrap, Options options,
                         MakePayloadFor make_payload,
                         AgentStartHandlers handlers)
    : loop_(loop),
      bootstrap_(bootstrap),
      options_(options),
      make_payload_(std::move(make_payload)),
      handlers_(std::move(handlers)) {}

AgentStarts::~AgentStarts() = default;

void AgentStarts::Want(const RemoteHost& host) {
  if (Find(host.host) != nullptr) return;
  starts_.push_back(std::make_unique<Start>());
  Start& start = *starts_.back();
  start.host = host;
  start.ordinal = wanted_++;
  start.pause = options_.first_pause;
  start.deadline = loop_.After(options_.start_timeout,
                               [this, &start] { OnDeadline(start); });
  queue_.push_back(host.host);
  Next();
}

void AgentStarts::Drop(const std::string& host) {
  if (Find(host) == nullptr) return;
  (void)Forget(host);
  Next();
}

std::vector<std::string> AgentStarts::hosts() const {
  std::vector<std::string> hosts;
  for (const auto& start : starts_) hosts.push_back(start->host.host);
  return hosts;
}

void AgentStarts::SetPhase(const std::string& host, StartPhase phase) {
  if (Start* const start = Find(host)) start->phase = phase;
}

void AgentStarts::Ready(const std::string& host) {
  Start* const start = Find(host);
  if (start == nullptr) return;
  start->ready = true;
  start->deadline.reset();
}

std::string AgentStarts::Waiting() const {
  std::vector<MissingHost> missing;
  for (const auto& start : starts_) {
    if (start->ready) continue;
    missing.push_back({start->host.host, start->phase,
                       start->last_end ? start->last_end->reason : "",
                       start->tries});
  }
  return WaitingText(missing);
}

AgentStarts::Start* AgentStarts::Find(const std::string& host) const {
  const auto found =
      std::find_if(starts_.begin(), starts_.end(),
                   [&](const auto& start) { return start->host.host == host; });
  return found == starts_.end() ? nullptr : found->get();
}

void AgentStarts::Next() {
  while (!queue_.empty() && bootstrap_.HasRoom()) {
    const std::string host = std::move(queue_.front());
    queue_.pop_front();
    Try(*Find(host));
  }
}

void AgentStarts::Try(Start& start) {
  ++start.tries;
  start.chatter.clear();
  start.attempt = bootstrap_.Start(
      start.host,
      [this, host = start.host.host] { return make_payload_(host); },
      {.on_chatter =
           [this, &start](std::string_view line) { OnChatter(start, line); },
       .on_login =
           [&start] {
             start.last_end.reset();
             start.phase = StartPhase::kAgentStarts;
           },
       .on_agent = [this, &start](
                       const std::string& version) { OnAgent(start, version); },
       .on_restart =
           [&start] {
             start.has_agent = false;
             start.phase = StartPhase::kConnect;
           },
       .on_end = [this,
                  &start](const BootstrapEnd& end) { OnEnd(start, end); }});
}

// The handler comes last: it may drop this host, or destroy all of this.
void AgentStarts::OnAgent(Start& start, const std::string& program_version) {
  start.last_end.reset();
  start.phase = StartPhase::kAgentAnswers;
  start.has_agent = true;
  Next();
  const auto handler = handlers_.on_agent;
  if (handler) handler(std::string(start.host.host), program_version);
}

void AgentStarts::OnChatter(Start& start, std::string_view line) {
  if (options_.chatter == ChatterWhen::kAtOnce) {
    if (!handlers_.on_chatter || start.shown > kMostAtOnce) return;
    const auto handler = handlers_.on_chatter;
    const bool last = ++start.shown > kMostAtOnce;
    handler(Labelled(start.host.host,
                     last ? "says more, which is not shown" : line));
    return;
  }
  start.chatter.emplace_back(line);
  if (start.chatter.size() > kMostKept) start.chatter.pop_front();
}

void AgentStarts::OnEnd(Start& start, const BootstrapEnd& end) {
  if (start.has_agent || end.again == Again::kHopeless) {
    return Give(start,
                start.has_agent ? &AgentStartHandlers::on_ended
                                : &AgentStartHandlers::on_failed,
                end.error, end.explained);
  }
  start.phase = end.phase;
  start.last_end = end;
  start.attempt.reset();
  Rest(start);
  Next();
}

// Hosts behind one sshd that is busy do not come back all at once.
void AgentStarts::Rest(Start& start) {
  const Duration spread = start.pause * (start.ordinal % kSpread) / kSpread;
  start.next_try = loop_.After(start.pause + spread, [this, &start] {
    queue_.push_back(start.host.host);
    Next();
  });
  start.pause = std::min(2 * start.pause, options_.longest_pause);
}

void AgentStarts::OnDeadline(Start& start) {
  Give(start, &AgentStartHandlers::on_failed, TooLate(start),
       start.last_end && start.last_end->explained);
}

Error AgentStarts::TooLate(const Start& start) const {
  const std::string limit = SecondsText(options_.start_timeout);
  if (start.last_end) {
    const Error& last = start.last_end->error;
    return Error(ErrorCode::kTimeout,
                 last.message() + " (" + std::to_string(start.tries) +
                     (start.tries == 1 ? " try in " : " tries in ") + limit +
                     ')')
        .WithHint(last.hint());
  }
  const std::string where = "host " + start.host.host + ": ";
  if (start.tries == 0) {
    return Error(ErrorCode::kTimeout,
                 where + "its turn did not come within " + limit)
        .WithHint("see --connect-concurrency and --start-timeout");
  }
  return Error(ErrorCode::kTimeout, where +
                                        std::string(PhaseName(start.phase)) +
                                        ": nothing came within " + limit);
}

void AgentStarts::Give(Start& start, EndHandler AgentStartHandlers::*which,
                       Error why, bool explained) {
  const std::unique_ptr<Start> kept = Forget(start.host.host);
  const std::weak_ptr<int> alive = alive_;
  // Copies: the first that is called may destroy this.
  const auto on_chatter = handlers_.on_chatter;
  const EndHandler handler = handlers_.*which;
  Next();
  for (const std::string& line : kept->chatter) {
    if (explained || !on_chatter) break;
    on_chatter(Labelled(kept->host.host, line));
    if (alive.expired()) return;
  }
  if (handler) handler(kept->host.host, std::move(why));
}

// Without the attempt, which is ended at once.
std::unique_ptr<AgentStarts::Start> AgentStarts::Forget(
    const std::string& host) {
  const auto found =
      std::find_if(starts_.begin(), starts_.end(),
                   [&](const auto& start) { return start->host.host == host; });
  std::unique_ptr<Start> start = std::move(*found);
  starts_.erase(found);
  queue_.erase(std::remove(queue_.begin(), queue_.end(), host), queue_.end());
  start->attempt.reset();
  start->next_try.reset();
  start->deadline.reset();
  return start;
}

}  // namespace hvd
