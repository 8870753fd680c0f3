#include "base/descendants.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace hvd {

std::ostream& operator<<(std::ostream& out, const ProcessInfo& process) {
  return out << process.pid << '<' << process.parent << " group "
             << process.group << " session " << process.session
             << (process.alive ? "" : " zombie");
}

namespace {

// proc(5), fields 7 to 19, and what follows num_threads.
std::string Stat(const std::string& head, int threads) {
  return head + " 34816 77 4194560 10 0 0 0 1 2 0 0 20 0 " +
         std::to_string(threads) +
         " 0 12345 2097152 200 18446744073709551615\n";
}

std::set<pid_t> Pids(const std::vector<ProcessInfo>& processes) {
  std::set<pid_t> pids;
  for (const ProcessInfo& process : processes) pids.insert(process.pid);
  return pids;
}

}  // namespace

TEST_CASE("ParseProcStat reads pid, parent, group and session", "[base]") {
  CHECK(ParseProcStat(Stat("77 (sleep) S 70 76 75", 1)) ==
        ProcessInfo{77, 70, 76, 75, true});
}

TEST_CASE("ParseProcStat is not misled by a program's name", "[base]") {
  for (const char* name : {"a) R 1 1 1", "(", ")", "a b", "", ") Z ("}) {
    CAPTURE(name);
    CHECK(ParseProcStat(Stat("77 (" + std::string(name) + ") S 70 76 75", 1)) ==
          ProcessInfo{77, 70, 76, 75, true});
  }
}

TEST_CASE("ParseProcStat tells a zombie from a leader whose threads go on",
          "[base]") {
  CHECK(ParseProcStat(Stat("77 (x) Z 70 76 75", 1)) ==
        ProcessInfo{77, 70, 76, 75, false});
  CHECK(ParseProcStat(Stat("77 (x) Z 70 76 75", 2)) ==
        ProcessInfo{77, 70, 76, 75, true});
  CHECK(ParseProcStat(Stat("77 (x) S 70 76 75", 1)) ==
        ProcessInfo{77, 70, 76, 75, true});
}

TEST_CASE("ParseProcStat sees that a process is on its way out", "[base]") {
  // The flags of a sleeping `sleep` and, with PF_EXITING, of one that ends.
  const std::string rest = " 0 0 0 0 0 0 0 0 20 0 1 0";
  const auto sleeping = ParseProcStat("77 (x) S 70 76 75 0 -1 4194304" + rest);
  const auto ending = ParseProcStat("77 (x) R 70 76 75 0 -1 4194308" + rest);
  REQUIRE(sleeping.has_value());
  REQUIRE(ending.has_value());
  CHECK_FALSE(sleeping->exiting);
  CHECK(ending->exiting);
}

TEST_CASE("ParseProcStat tells stopped from held by a debugger", "[base]") {
  const std::string rest = " 70 76 75 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0";
  CHECK(ParseProcStat("77 (x) T" + rest)->stopped);
  CHECK_FALSE(ParseProcStat("77 (x) t" + rest)->stopped);
  CHECK_FALSE(ParseProcStat("77 (x) S" + rest)->stopped);
}

TEST_CASE("LookAt sees this process and none that is not there", "[base]") {
  const auto self = LookAt(::getpid());
  REQUIRE(self.has_value());
  CHECK(self->pid == ::getpid());
  CHECK(self->parent == ::getppid());
  CHECK_FALSE(self->exiting);
  CHECK_FALSE(LookAt(0).has_value());
}

TEST_CASE("ParseProcStat refuses what is no stat line", "[base]") {
  const std::string whole = Stat("77 (sleep) S 70 76 75", 1);
  const std::size_t needed = whole.find(" 0 12345");
  for (std::size_t size = 0; size + 1 < needed; ++size) {
    CAPTURE(size);
    CHECK(ParseProcStat(whole.substr(0, size)) == std::nullopt);
  }
  CHECK(ParseProcStat("77 sleep S 70 76 75") == std::nullopt);
  CHECK(ParseProcStat(Stat("x (sleep) S 70 76 75", 1)) == std::nullopt);
  CHECK(ParseProcStat(Stat("77 (sleep) S 70 y 75", 1)) == std::nullopt);
}

TEST_CASE("DescendantsOf finds children's children and no one else", "[base]") {
  const std::vector<ProcessInfo> processes{
      {.pid = 2, .parent = 1},   {.pid = 10, .parent = 2},
      {.pid = 12, .parent = 11}, {.pid = 11, .parent = 10},
      {.pid = 20, .parent = 1},  {.pid = 13, .parent = 10}};
  CHECK(Pids(DescendantsOf(processes, 10)) == std::set<pid_t>{11, 12, 13});
  CHECK(Pids(DescendantsOf(processes, 2)) == std::set<pid_t>{10, 11, 12, 13});
  CHECK(DescendantsOf(processes, 12).empty());
}

TEST_CASE("DescendantsOf ends when a snapshot has a circle", "[base]") {
  const std::vector<ProcessInfo> processes{{.pid = 10, .parent = 11},
                                           {.pid = 11, .parent = 10}};
  CHECK(Pids(DescendantsOf(processes, 10)) == std::set<pid_t>{10, 11});
}

TEST_CASE("ScanProcesses sees this process", "[base]") {
  const std::vector<ProcessInfo> processes = ScanProcesses();
  const auto self =
      std::find_if(processes.begin(), processes.end(),
                   [](const auto& p) { return p.pid == ::getpid(); });
  REQUIRE(self != processes.end());
  CHECK(*self ==
        ProcessInfo{::getpid(), ::getppid(), ::getpgrp(), ::getsid(0), true});
}

}  // namespace hvd
