#include "tests/support/processes.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "base/hex.h"
#include "base/random_bytes.h"

namespace hvd::testing {
namespace {

// A process that ends meanwhile makes a read fail: what was read counts. (An
// istreambuf_iterator would let the failure out as an exception.)
std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The fields that stand behind the program's name, which may hold anything.
struct Stat {
  std::string name;
  char state = 0;
  pid_t parent = 0;
};

std::optional<Stat> ReadStat(pid_t pid) {
  const std::string text = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t begin = text.find('(');
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos || text.size() < end + 5) return std::nullopt;
  return Stat{text.substr(begin + 1, end - begin - 1), text[end + 2],
              std::stoi(text.substr(end + 4))};
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"),
                                                 ::closedir);
  while (const dirent* entry = ::readdir(proc.get())) {  // NOLINT: one thread
    const std::string name = static_cast<const char*>(entry->d_name);
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    pids.push_back(std::stoi(name));
  }
  return pids;
}

// Pid, state, parent and command of each, for the message of a failed test.
std::string Describe(const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) {
    const Stat stat = ReadStat(pid).value_or(Stat{});
    std::string command = ReadAll("/proc/" + std::to_string(pid) + "/cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    text += "\n  " + std::to_string(pid) + ' ' + stat.state + " parent " +
            std::to_string(stat.parent) + ": " + command;
  }
  return text;
}

bool IsAlive(char state) { return state != 0 && state != 'Z' && state != 'X'; }

}  // namespace

std::string UniqueMark() { return "hvdmark" + ToHex(RandomBytes(8)); }

ScopedMark::~ScopedMark() {
  for (const pid_t pid : ProcessesWith(text_)) ::kill(pid, SIGKILL);
}

std::vector<pid_t> ProcessesWith(std::string_view mark) {
  std::vector<pid_t> found;
  for (const pid_t pid : AllProcesses()) {
    if (pid == ::getpid()) continue;
    const std::string directory = "/proc/" + std::to_string(pid);
    const bool marked =
        ReadAll(directory + "/cmdline").find(mark) != std::string::npos ||
        ReadAll(directory + "/environ").find(mark) != std::string::npos;
    if (marked && IsAlive(ProcessState(pid))) found.push_back(pid);
  }
  return found;
}

bool NoneLeft(std::string_view mark, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!ProcessesWith(mark).empty()) {
    if (std::chrono::steady_clock::now() >= end) {
      UNSCOPED_INFO("still there:" << Describe(ProcessesWith(mark)));
      return false;
    }
    ::poll(nullptr, 0, 10);
  }
  return true;
}

char ProcessState(pid_t pid) {
  const std::optional<Stat> stat = ReadStat(pid);
  return stat ? stat->state : '\0';
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children = AllProcesses();
  std::erase_if(children, [parent](pid_t pid) {
    const std::optional<Stat> stat = ReadStat(pid);
    return !stat || stat->parent != parent;
  });
  return children;
}

std::optional<pid_t> ChildNamed(pid_t parent, std::string_view name) {
  for (const pid_t pid : ChildrenOf(parent)) {
    const std::optional<Stat> stat = ReadStat(pid);
    if (stat && stat->name == name.substr(0, 15) && IsAlive(stat->state)) {
      return pid;
    }
  }
  return std::nullopt;
}

std::size_t PeakMemoryKb(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

}  // namespace hvd::testing
