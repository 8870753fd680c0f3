// RemoteAttempt: the conversation with one host, from the first word that comes
// over a connection to its end.
//
//   there: anything, HVDRUN-LOGIN    here: the agent program, if it is
//   installed there: HVDRUN-AGENT 2 0.1.0      here: the payload, and then
//   nothing more
//
// It starts and reaps no process: what its pipes lead to is RemoteBootstrap's.
//
// Loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/line_splitter.h"
#include "base/process.h"
#include "base/unique_fd.h"
#include "launcher/agent_greeting.h"
#include "launcher/bootstrap.h"
#include "launcher/remote_command.h"
#include "launcher/remote_failure.h"
#include "launcher/remote_stdin.h"

namespace hvd {

class RemoteAttempt : public BootstrapAttempt {
 public:
  struct Plan {
    std::string host;
    bool is_ssh = true;
    AgentPlace place;
    // Of AgentPlace::kInstall, shared by all hosts.
    std::shared_ptr<const std::string> program = nullptr;
    MakePayload make_payload;
    std::string by_hand;          // what the user may paste to see for himself
    std::string program_version;  // of this hvdrun
  };
  struct Pipes {  // our ends, non-blocking
    UniqueFd to_stdin;
    UniqueFd from_stdout;
    UniqueFd from_stderr;
  };

  // `kill`: ends the connection; called at most once, and not after OnExit().
  RemoteAttempt(EventLoop& loop, Plan plan, Pipes pipes,
                BootstrapHandlers handlers, std::function<void()> kill);
  ~RemoteAttempt() override;
  RemoteAttempt(const RemoteAttempt&) = delete;
  RemoteAttempt& operator=(const RemoteAttempt&) = delete;

  // The command has ended, or could not be started. Each may destroy this.
  void OnExit(ExitStatus status);
  void OnNoStart(const Error& why);

 private:
  static constexpr std::size_t kLongestLine = 1024;

  void OnStdout();
  void OnStderr();
  // False: a handler has destroyed this, or all is over.
  bool Hear(std::string_view bytes);
  bool HearErrors(std::string_view bytes);
  bool OnGreeting();
  bool Chat(std::string_view line, std::deque<std::string>& said);
  // Calls a copy of a handler, which may destroy this; then false.
  template <class Handler, class... Args>
  bool Tell(const Handler& handler, const Args&... args);
  void GiveUp(RemoteFailure failure);
  void End(RemoteFailure failure);

  EventLoop& loop_;
  Plan plan_;
  BootstrapHandlers handlers_;
  std::function<void()> kill_;  // empty: called, or needed no more
  UniqueFd stdout_;
  UniqueFd stderr_;
  RemoteStdin stdin_;
  GreetingScan scan_;
  LineSplitter errors_{kLongestLine};
  std::size_t error_bytes_ = 0;
  Reached reached_ = Reached::kNothing;
  std::deque<std::string> said_out_;  // the last lines of each, since the
  std::deque<std::string> said_err_;  // greeting if there was one
  std::unique_ptr<FdWatch> out_watch_;
  std::unique_ptr<FdWatch> err_watch_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Tell()
};

}  // namespace hvd
