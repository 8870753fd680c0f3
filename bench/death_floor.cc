// death_floor: the least that a death can cost, without any of our code.
//
//   death_floor N TRIES [MIB]
//
// A parent watches N children by pidfd. One, which holds MIB of memory, is
// killed; the parent sees it once the kernel has taken that back, writes a byte
// to each survivor's pipe, and each answers through another one. Prints the
// microseconds from the kill to the sight of it, and to the last answer, one
// try a line.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
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

// Every page of it is there, and this process's.
void Hold(std::size_t mib) {
  if (mib == 0) return;
  void* const memory =
      ::mmap(nullptr, mib << 20U, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) Fail("mmap");
}

[[noreturn]] void Live(int in, int out, std::size_t mib) {
  Hold(mib);
  char byte = 0;
  while (::read(in, &byte, 1) == 1) {
    if (::write(out, &byte, 1) != 1) break;
  }
  ::_exit(0);
}

Child Start(const std::array<int, 2>& answers, std::size_t mib) {
  std::array<int, 2> news{};
  if (::pipe2(news.data(), O_CLOEXEC) != 0) Fail("pipe2");
  const pid_t pid = ::fork();
  if (pid < 0) Fail("fork");
  if (pid == 0) {
    ::close(news[1]);
    Live(news[0], answers[1], mib);
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

struct Took {
  std::chrono::duration<double, std::micro> seen;
  std::chrono::duration<double, std::micro> answered;
};

Took Try(std::size_t n, std::size_t mib) {
  std::array<int, 2> answers{};
  if (::pipe2(answers.data(), O_CLOEXEC) != 0) Fail("pipe2");
  std::vector<Child> children;
  for (std::size_t i = 0; i < n; ++i) {
    children.push_back(Start(answers, i == 0 ? mib : 0));
  }
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
  const auto seen = std::chrono::steady_clock::now();
  for (std::size_t i = 1; i < n; ++i) Ask(children[i]);
  AwaitAnswers(answers[0], n - 1);
  const auto answered = std::chrono::steady_clock::now();

  for (const Child& child : children) {
    ::close(child.to);
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    ::close(child.pidfd);
  }
  ::close(answers[0]);
  ::close(answers[1]);
  return {seen - begin, answered - begin};
}

}  // namespace

int main(int argc, char** argv) {
  const bool counts = argc == 3 || argc == 4;
  const int n = counts ? std::atoi(argv[1]) : 0;
  const int tries = counts ? std::atoi(argv[2]) : 0;
  const int mib = argc == 4 ? std::atoi(argv[3]) : 0;
  if (n < 2 || tries < 1 || mib < 0) {
    std::fprintf(stderr,
                 "usage: death_floor N TRIES [MIB] (N from 2, TRIES from 1)\n");
    return 2;
  }
  try {
    for (int i = 0; i < tries; ++i) {
      const Took took =
          Try(static_cast<std::size_t>(n), static_cast<std::size_t>(mib));
      std::printf("%.1f %.1f\n", took.seen.count(), took.answered.count());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "death_floor: %s\n", error.what());
    return 1;
  }
  return 0;
}
