#include "launcher/tree_bootstrap.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace hvd {
namespace {

// It knows no such name, has no key, or no ssh; rather than that the host which
// it should start does not answer, or has no agent.
bool IsFaultOfStarter(const AgentOtherEnded& event) {
  switch (event.phase) {
    case StartPhase::kResolve:
    case StartPhase::kAuthenticate:
      return true;
    case StartPhase::kConnect:
      return event.again == Again::kHopeless;
    case StartPhase::kAgentStarts:
    case StartPhase::kAgentAnswers:
    case StartPhase::kInterfaceProof:
      return false;
  }
  return false;
}

}  // namespace

class TreeBootstrap::Attempt : public BootstrapAttempt {
 public:
  Attempt(TreeBootstrap& tree, RemoteHost to, MakePayload payload,
          BootstrapHandlers told)
      : owner(tree),
        host(std::move(to)),
        make_payload(std::move(payload)),
        handlers(std::move(told)) {}
  ~Attempt() override { owner.Leave(*this); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  bool waits() const { return !starter && !has_agent; }
  // It goes on without whoever has started it.
  bool orphaned() const { return !starter && is_here; }

  TreeBootstrap& owner;
  RemoteHost host;
  MakePayload make_payload;
  BootstrapHandlers handlers;
  std::optional<std::string> starter;        // nullopt: nobody yet, or lost
  std::unique_ptr<BootstrapAttempt> direct;  // of hvdrun
  std::uint64_t start = 0;                   // of an agent
  std::optional<Blame> blame;                // then only hvdrun tries
  bool has_agent = false;                    // it has greeted
  bool is_here = false;                      // it has dialled
  bool cut_off = false;                      // its agent asks whether to go on
};

TreeBootstrap::TreeBootstrap(EventLoop& loop, Bootstrap& direct,
                             Options options, Handlers handlers)
    : loop_(loop),
      direct_(direct),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      tree_(options_.limits) {}

std::unique_ptr<BootstrapAttempt> TreeBootstrap::Start(
    const RemoteHost& host, MakePayload make_payload,
    BootstrapHandlers handlers) {
  auto attempt = std::make_unique<Attempt>(*this, host, std::move(make_payload),
                                           std::move(handlers));
  attempts_.push_back(attempt.get());
  StartWaiting();
  return attempt;
}

void TreeBootstrap::Add(const std::string& host, Send send) {
  agents_[host] = std::move(send);
  tree_.Add(host);
  Attempt* const attempt = Of(host);
  if (attempt != nullptr && !std::exchange(attempt->is_here, true)) {
    if (attempt->starter) tree_.Arrive(*attempt->starter);
  }
  StartWaiting();
  if (handlers_.on_room) handlers_.on_room();
  if (attempt != nullptr && !attempt->has_agent) OnGreeted(*attempt, "");
}

void TreeBootstrap::Remove(const std::string& host) {
  if (agents_.erase(host) == 0) return;
  tree_.Remove(host);
  for (Attempt* attempt : attempts_) {
    if (attempt->starter != host) continue;
    attempt->starter.reset();
    if (!attempt->is_here) {
      Restart(*attempt);
      continue;
    }
    const auto agent = agents_.find(attempt->host.host);
    if (attempt->cut_off && agent != agents_.end()) agent->second(AgentStay{});
  }
  StartWaiting();
  if (handlers_.on_room) handlers_.on_room();
}

// The agent that was on its way may have ended with its starter, and comes too
// late if it has not: what it was given is good for nothing from now on.
void TreeBootstrap::Restart(Attempt& attempt) {
  (void)attempt.make_payload();
  attempt.has_agent = false;
  if (attempt.handlers.on_restart) attempt.handlers.on_restart();
}

void TreeBootstrap::OnEvent(const std::string& host, const AgentEvent& event) {
  std::visit(Overloaded{[&](const AgentOtherLogin& e) {
                          Attempt* const attempt = Find(host, e.start);
                          if (attempt != nullptr) OnLogin(*attempt);
                        },
                        [&](const AgentOtherGreeted& e) {
                          Attempt* const attempt = Find(host, e.start);
                          if (attempt == nullptr || attempt->has_agent) return;
                          OnGreeted(*attempt, e.version);
                        },
                        [&](const AgentOtherSaid& e) {
                          Attempt* const attempt = Find(host, e.start);
                          if (attempt == nullptr) return;
                          const auto told = attempt->handlers.on_chatter;
                          if (told) told(e.line);
                        },
                        [&](const AgentOtherEnded& e) {
                          Attempt* const attempt = Find(host, e.start);
                          if (attempt != nullptr) OnEnded(*attempt, e);
                        },
                        [&](const AgentCutOff&) { OnCutOff(host); },
                        [](const auto&) {}},
             event);
}

void TreeBootstrap::StartWaiting() {
  for (Attempt* attempt : attempts_) {
    if (!attempt->waits()) continue;
    const std::optional<std::string> starter =
        attempt->blame ? tree_.ChooseHvdrun() : tree_.Choose();
    if (!starter) continue;
    attempt->starter = starter;
    tree_.Begin(*starter);
    if (*starter == StartTree::kHvdrun) {
      StartHere(*attempt);
    } else {
      StartFrom(*starter, *attempt);
    }
  }
}

void TreeBootstrap::StartFrom(const std::string& starter, Attempt& attempt) {
  attempt.start = ++last_start_;
  agents_.at(starter)(AgentStartOther{attempt.start, attempt.host,
                                      options_.shell, options_.place,
                                      attempt.make_payload()});
}

void TreeBootstrap::StartHere(Attempt& attempt) {
  BootstrapHandlers handlers;
  handlers.on_chatter = attempt.handlers.on_chatter;
  handlers.on_login = [this, &attempt] { OnLogin(attempt); };
  handlers.on_agent = [this, &attempt](const std::string& version) {
    if (!attempt.has_agent) OnGreeted(attempt, version);
  };
  handlers.on_end = [this, &attempt](const BootstrapEnd& end) {
    OnEndedHere(attempt, end);
  };
  attempt.direct =
      direct_.Start(attempt.host, attempt.make_payload, std::move(handlers));
}

// An agent that could not do what hvdrun can is not asked again.
void TreeBootstrap::OnLogin(Attempt& attempt) {
  const std::optional<Blame> blame = std::exchange(attempt.blame, std::nullopt);
  if (blame && blame->phase < StartPhase::kAgentStarts) {
    tree_.Spoil(blame->starter);
    if (!std::exchange(said_, true) && handlers_.say) {
      handlers_.say("host " + blame->starter + " cannot log in to host " +
                    attempt.host.host + " (" + blame->reason +
                    "): what other hosts cannot start is started from here");
    }
  }
  const auto told = attempt.handlers.on_login;
  if (told) told();
}

void TreeBootstrap::OnGreeted(Attempt& attempt, const std::string& version) {
  attempt.has_agent = true;
  const auto told = attempt.handlers.on_agent;
  if (told) told(version);
}

void TreeBootstrap::OnEnded(Attempt& attempt, const AgentOtherEnded& event) {
  if (attempt.has_agent) {
    const auto told = attempt.handlers.on_end;
    if (told) {
      told({event.phase, Error(event.code, event.message).WithHint(event.hint),
            event.reason, event.again, event.explained});
    }
    return;
  }
  const std::string starter = *std::exchange(attempt.starter, std::nullopt);
  tree_.End(starter, false);
  attempt.blame = Blame{starter, event.phase, event.reason};
  if (IsFaultOfStarter(event)) tree_.Spoil(starter);
  StartWaiting();
  if (handlers_.on_room) handlers_.on_room();
}

// Where hvdrun fails in the same way it is the host's own fault.
void TreeBootstrap::OnEndedHere(Attempt& attempt, const BootstrapEnd& end) {
  if (attempt.blame && attempt.blame->phase == end.phase) {
    tree_.Absolve(attempt.blame->starter);
  }
  const auto told = attempt.handlers.on_end;
  if (told) told(end);
}

// Of a starter that is well, its own word decides, which is on its way: that
// the connection has ended. One that isn't will be found to be lost.
void TreeBootstrap::OnCutOff(const std::string& host) {
  Attempt* const attempt = Of(host);
  if (attempt == nullptr) return;
  attempt->cut_off = true;
  if (attempt->orphaned()) agents_.at(host)(AgentStay{});
}

TreeBootstrap::Attempt* TreeBootstrap::Find(const std::string& starter,
                                            std::uint64_t start) {
  const auto found =
      std::find_if(attempts_.begin(), attempts_.end(), [&](Attempt* attempt) {
        return attempt->starter == starter && attempt->start == start;
      });
  return found == attempts_.end() ? nullptr : *found;
}

TreeBootstrap::Attempt* TreeBootstrap::Of(const std::string& host) {
  const auto found = std::find_if(
      attempts_.begin(), attempts_.end(),
      [&](Attempt* attempt) { return attempt->host.host == host; });
  return found == attempts_.end() ? nullptr : *found;
}

void TreeBootstrap::Leave(Attempt& attempt) {
  attempts_.erase(std::find(attempts_.begin(), attempts_.end(), &attempt));
  if (attempt.starter) {
    tree_.End(*attempt.starter, attempt.is_here);
    const auto agent = agents_.find(*attempt.starter);
    if (agent != agents_.end()) agent->second(AgentEndOther{attempt.start});
  }
  // Not at once: if all of them leave, none is to be started.
  loop_.Post([this, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) StartWaiting();
  });
}

}  // namespace hvd
