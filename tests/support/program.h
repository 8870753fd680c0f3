// Program: a real process under test, with its output and a deadline on every
// wait.
//
// What it prints is collected while the test waits, so it never blocks on a
// full pipe. Destroying a Program kills its process group and reaps it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/unique_fd.h"

namespace hvd::testing {

struct ResourceLimit {
  enum Reach { kSoftOnly, kHardToo };
  decltype(RLIMIT_STACK) resource = RLIMIT_STACK;
  rlim_t value = 0;
  Reach reach = kSoftOnly;
};

struct ProgramOptions {
  EnvList env{};  // on top of the test's own
  std::vector<std::string> unset{};
  std::string cwd{};
  std::optional<std::string> stdin_text{};  // nullopt: /dev/null
  bool stdin_closed = false;
  bool stdout_closed = false;
  // Signals it ignores from its start; all others have their default action,
  // whatever this test was started with.
  std::vector<int> ignored_signals{};
  std::vector<ResourceLimit> limits{};
  bool terminal = false;    // 0, 1 and 2 are a pty of its own session
  bool read_output = true;  // false: nobody reads what it prints
  uid_t uid = 0;            // other than 0: run as that user (needs root)
};

struct ProgramResult {
  ExitStatus status;
  std::string out;
  std::string err;  // with a terminal: empty, all is in `out`
  std::chrono::milliseconds took{};
};

class Program {
 public:
  explicit Program(std::vector<std::string> argv, ProgramOptions options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

  void Signal(int signo) const;
  void Type(std::string_view text);  // to its stdin or terminal
  void CloseStdin() { stdin_.Reset(); }
  // Nobody is at the other end of its terminal or pipes any more.
  void HangUp();
  // Starts to read what was left unread (read_output = false).
  void ReadOutput() { reading_ = true; }

  // True once `done()` holds; collects output meanwhile. On a miss the test's
  // failure message should print out() and err().
  bool WaitUntil(const std::function<bool()>& done,
                 std::chrono::milliseconds limit);
  bool WaitForOutput(std::string_view text, std::chrono::milliseconds limit =
                                                std::chrono::seconds(20));
  // Fails the test when it has not ended in time.
  ProgramResult Wait(
      std::chrono::milliseconds limit = std::chrono::seconds(40));
  bool running();

 private:
  void Collect(std::chrono::milliseconds limit);
  bool ReadInto(UniqueFd& fd, std::string& text);

  std::chrono::steady_clock::time_point begin_;
  bool reading_ = true;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd stdin_;
  UniqueFd stdout_;
  UniqueFd stderr_;
  std::string out_;
  std::string err_;
  std::optional<ExitStatus> status_;
};

// Runs it to its end.
ProgramResult RunProgram(
    std::vector<std::string> argv, ProgramOptions options = {},
    std::chrono::milliseconds limit = std::chrono::seconds(40));

}  // namespace hvd::testing
