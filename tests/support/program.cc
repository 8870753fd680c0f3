#include "tests/support/program.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>

namespace hvd::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Ends {
  UniqueFd read_end;
  UniqueFd write_end;
};

Ends MakePipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// What the child gets as 0, 1 and 2; -1: closed.
struct ChildStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

void ResetSignals(const std::vector<int>& ignored) {
  for (int signo = 1; signo < NSIG; ++signo) ::signal(signo, SIG_DFL);
  for (const int signo : ignored) ::signal(signo, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool SetLimit(const ResourceLimit& limit) {
  rlimit now{};
  if (::getrlimit(limit.resource, &now) != 0) return false;
  now.rlim_cur = limit.value;
  if (limit.reach == ResourceLimit::kHardToo) now.rlim_max = limit.value;
  return ::setrlimit(limit.resource, &now) == 0;
}

// Between fork and exec: only what is safe there.
[[noreturn]] void BecomeProgram(const ChildStreams& streams,
                                const ProgramOptions& options, char** argv,
                                char** envp) {
  ::setsid();
  ResetSignals(options.ignored_signals);
  if (options.terminal) ::ioctl(streams.in, TIOCSCTTY, 0);
  for (const auto& [from, to] :
       {std::pair{streams.in, 0}, std::pair{streams.out, 1},
        std::pair{streams.err, 2}}) {
    if (from < 0) {
      ::close(to);
    } else {
      ::dup2(from, to);
    }
  }
  if (!options.cwd.empty() && ::chdir(options.cwd.c_str()) != 0) ::_exit(121);
  if (options.uid != 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(options.uid) != 0 ||
       ::setuid(options.uid) != 0)) {
    ::_exit(122);
  }
  for (const ResourceLimit& limit : options.limits) {
    if (!SetLimit(limit)) ::_exit(120);
  }
  ::execvpe(argv[0], argv, envp);
  ::_exit(123);
}

EnvList ChildEnvironment(const ProgramOptions& options) {
  EnvList env = CurrentEnvironment();
  std::erase_if(env, [&](const auto& entry) {
    return std::find(options.unset.begin(), options.unset.end(), entry.first) !=
           options.unset.end();
  });
  return EnvMerge(std::move(env), options.env);
}

}  // namespace

Program::Program(std::vector<std::string> argv, ProgramOptions options)
    : begin_(steady_clock::now()), reading_(options.read_output) {
  Ends in = MakePipe();
  Ends out = MakePipe();
  Ends err = MakePipe();
  UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd terminal;
  ChildStreams streams{null.get(), out.write_end.get(), err.write_end.get()};
  if (options.stdin_text) streams.in = in.read_end.get();
  if (options.stdin_closed) streams.in = -1;
  if (options.stdout_closed) streams.out = -1;
  if (options.terminal) {
    int master = -1;
    int slave = -1;
    REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave, F_SETFD, FD_CLOEXEC);
    terminal.Reset(slave);
    streams = {slave, slave, slave};
    stdin_.Reset(master);
    stdout_.Reset(::fcntl(master, F_DUPFD_CLOEXEC, 0));
  }

  std::vector<std::string> env_text;
  for (const auto& [name, value] : ChildEnvironment(options)) {
    env_text.push_back(name + '=' + value);
  }
  std::vector<char*> envp;
  for (std::string& entry : env_text) envp.push_back(entry.data());
  envp.push_back(nullptr);
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);

  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) BecomeProgram(streams, options, words.data(), envp.data());
  Result<UniqueFd> pidfd = OpenPidfd(pid_);
  REQUIRE(pidfd.ok());
  pidfd_ = std::move(pidfd).value();
  if (!options.terminal) {
    stdout_ = std::move(out.read_end);
    stderr_ = std::move(err.read_end);
    stdin_ = std::move(in.write_end);
    if (options.stdin_text) Type(*options.stdin_text);
    CloseStdin();
  }
}

Program::~Program() {
  if (status_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ReapPidfd(pidfd_.get());
}

void Program::Signal(int signo) const { REQUIRE(::kill(pid_, signo) == 0); }

void Program::Type(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(stdin_.get(), text.data(), text.size());
    if (n <= 0) return;  // it closed its stdin: its good right
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Program::HangUp() {
  stdin_.Reset();
  stdout_.Reset();
  stderr_.Reset();
}

bool Program::ReadInto(UniqueFd& fd, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
  if (n <= 0) {
    fd.Reset();  // end of file; EIO is a terminal's way to say it
    return false;
  }
  text.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

void Program::Collect(milliseconds limit) {
  std::vector<pollfd> fds;
  if (!status_) fds.push_back({pidfd_.get(), POLLIN, 0});
  if (reading_ && stdout_.valid()) fds.push_back({stdout_.get(), POLLIN, 0});
  if (reading_ && stderr_.valid()) fds.push_back({stderr_.get(), POLLIN, 0});
  ::poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
  for (const pollfd& fd : fds) {
    if (fd.revents == 0) continue;
    if (fd.fd == pidfd_.get()) {
      status_ = ReapPidfd(pidfd_.get());
    } else if (fd.fd == stdout_.get()) {
      ReadInto(stdout_, out_);
    } else {
      ReadInto(stderr_, err_);
    }
  }
}

bool Program::WaitUntil(const std::function<bool()>& done, milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  while (!done()) {
    if (steady_clock::now() >= end) return false;
    Collect(milliseconds(5));
  }
  return true;
}

bool Program::WaitForOutput(std::string_view text, milliseconds limit) {
  return WaitUntil(
      [&] {
        return out_.find(text) != std::string::npos ||
               err_.find(text) != std::string::npos;
      },
      limit);
}

bool Program::running() {
  Collect(milliseconds(0));
  return !status_;
}

ProgramResult Program::Wait(milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  while (!status_ && steady_clock::now() < end) Collect(milliseconds(20));
  INFO("stdout: " << out_ << "\nstderr: " << err_);
  if (!status_) {
    FAIL("pid " << pid_ << " has not ended within " << limit.count() << " ms");
  }
  const auto took =
      std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin_);
  // What is in the pipes now; something it left behind may hold them open.
  const auto drained = steady_clock::now() + milliseconds(2000);
  while (reading_ && (stdout_.valid() || stderr_.valid()) &&
         steady_clock::now() < drained) {
    const std::size_t before = out_.size() + err_.size();
    Collect(milliseconds(200));
    if (before == out_.size() + err_.size()) break;
  }
  return {*status_, out_, err_, took};
}

ProgramResult RunProgram(std::vector<std::string> argv, ProgramOptions options,
                         milliseconds limit) {
  Program program(std::move(argv), std::move(options));
  return program.Wait(limit);
}

}  // namespace hvd::testing
