// death_floor: the least that a death can cost, without any of our code.
//
//   death_floor N TRIES
//
// A parent watches N children by pidfd. One is killed; the parent sees it,
// writes a byte to each survivor's pipe, and each answers through another one.
// Prints the microseconds from the kill to the last answer, one try a line.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <vector>

namespace {

[[noreturn]] void Fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Child {
  pid_t pid = -1;
  int pidfd = -1;
  int to = -1;    // the parent's end
  int from = -1;  // of all children
};

[[noreturn]] void Live(int in, int out) {
  char byte = 0;
  while (::read(in, &byte, 1) == 1) {
    if (::write(out, &byte, 1) != 1) break;
  }
  ::_exit(0);
}

Child Start(const std::array<int, 2>& answers) {
  std::array<int, 2> news{};
  if (::pipe2(news.data(), O_CLOEXEC) != 0) Fail("pipe2");
  const pid_t pid = ::fork();
  if (pid < 0) Fail("fork");
  if (pid == 0) {
    ::close(news[1]);
    Live(news[0], answers[1]);
  }
  ::close(news[0]);
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) Fail("pidfd_open");
  return {pid, pidfd, news[1], answers[0]};
}

void Ask(const Child& child) {
  if (::write(child.to, "x", 1) != 1) Fail("write");
}

void AwaitAnswers(int fd, std::size_t count) {
  std::array<char, 256> bytes{};
  while (count > 0) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got <= 0) Fail("read");
    count -= static_cast<std::size_t>(got);
  }
}

double Microseconds(std::size_t n) {
  std::array<int, 2> answers{};
  if (::pipe2(answers.data(), O_CLOEXEC) != 0) Fail("pipe2");
  std::vector<Child> children;
  for (std::size_t i = 0; i < n; ++i) children.push_back(Start(answers));
  for (const Child& child : children) Ask(child);
  AwaitAnswers(answers[0], n);  // all wait for news now

  const auto begin = std::chrono::steady_clock::now();
  if (::kill(children[0].pid, SIGKILL) != 0) Fail("kill");
  std::vector<pollfd> watched;
  for (const Child& child : children) {
    watched.push_back({child.pidfd, POLLIN, 0});
  }
  constexpr int kLimitMs = 10'000;
  if (::poll(watched.data(), watched.size(), kLimitMs) != 1) Fail("poll");
  for (std::size_t i = 1; i < n; ++i) Ask(children[i]);
  AwaitAnswers(answers[0], n - 1);
  const std::chrono::duration<double, std::micro> took =
      std::chrono::steady_clock::now() - begin;

  for (const Child& child : children) {
    ::close(child.to);
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    ::close(child.pidfd);
  }
  ::close(answers[0]);
  ::close(answers[1]);
  return took.count();
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc == 3 ? std::atoi(argv[1]) : 0;
  const int tries = argc == 3 ? std::atoi(argv[2]) : 0;
  if (n < 2 || tries < 1) {
    std::fprintf(stderr,
                 "usage: death_floor N TRIES (N from 2, TRIES from 1)\n");
    return 2;
  }
  try {
    for (int i = 0; i < tries; ++i) {
      std::printf("%.1f\n", Microseconds(static_cast<std::size_t>(n)));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "death_floor: %s\n", error.what());
    return 1;
  }
  return 0;
}
