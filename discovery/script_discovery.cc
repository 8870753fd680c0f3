#include "discovery/script_discovery.h"

#include <unistd.h>

#include <utility>

#include "discovery/judge_script.h"

namespace hvd {

ScriptDiscovery::ScriptDiscovery(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)), leftovers_(loop) {}

ScriptDiscovery::~ScriptDiscovery() = default;

void ScriptDiscovery::Start(DiscoveryHandlers handlers) {
  news_.emplace(ScriptName(options_.command), std::move(handlers));
  next_ = loop_.After(Duration::zero(), [this] { BeginRun(); });
}

bool ScriptDiscovery::Runs(pid_t pid) const {
  return run_ && !run_->gone() && ::getsid(pid) == run_->pid();
}

void ScriptDiscovery::BeginRun() {
  // One that outlives SIGKILL waits for something that another would wait for
  // as well.
  if (run_ && !run_->gone()) {
    next_ = loop_.After(options_.interval, [this] { BeginRun(); });
    return;
  }
  Result<std::unique_ptr<ScriptRun>> run = ScriptRun::Start(
      loop_,
      {.command = options_.command,
       .env = options_.env,
       .timeout = options_.timeout},
      leftovers_, [this](const ScriptEnd& end) {
        OnAttempt(JudgeScript({.command = options_.command,
                               .slots_per_host = options_.slots_per_host,
                               .timeout = options_.timeout},
                              end));
      });
  if (run.ok()) {
    run_ = std::move(run).value();
  } else {
    OnAttempt(DiscoveryFailure{
        FailureKind::kNotStarted,
        std::move(run).error().Wrap(ScriptName(options_.command))});
  }
}

// Told that it is over, this may be gone.
void ScriptDiscovery::OnAttempt(const Attempt& attempt) {
  if (news_->Tell(attempt) == AttemptNews::Next::kOver) return;
  next_ = loop_.After(options_.interval, [this] { BeginRun(); });
}

}  // namespace hvd
