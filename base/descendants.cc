#include "base/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/unique_fd.h"

namespace hvd {
namespace {

// PF_EXITING of Linux include/linux/sched.h.
constexpr unsigned kFlagExiting = 0x4;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The next space-separated word, taken off the front of `text`.
std::string_view NextWord(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

template <class Number>
std::optional<Number> ParseAs(std::string_view word) {
  Number value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end || word.empty()) return std::nullopt;
  return value;
}

std::optional<pid_t> ParseNumber(std::string_view word) {
  return ParseAs<pid_t>(word);
}

std::optional<ProcessInfo> ReadProcess(int proc_fd, const char* name) {
  const std::string path = std::string(name) + "/stat";
  const UniqueFd fd(::openat(proc_fd, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;  // it ended meanwhile
  std::array<char, 1024> text{};         // a stat line has at most about 400
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  return ParseProcStat({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

std::optional<ProcessInfo> ParseProcStat(std::string_view text) {
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return std::nullopt;
  }
  const auto pid = ParseNumber(text.substr(0, open));
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = NextWord(rest);
  const auto parent = ParseNumber(NextWord(rest));
  const auto group = ParseNumber(NextWord(rest));
  const auto session = ParseNumber(NextWord(rest));
  // As proc(5) counts: flags are the 9th field, num_threads the 20th.
  for (int field = 7; field < 9; ++field) NextWord(rest);
  const auto flags = ParseAs<unsigned>(NextWord(rest));
  for (int field = 10; field < 20; ++field) NextWord(rest);
  const auto threads = ParseNumber(NextWord(rest));
  if (!pid || !parent || !group || !session || !flags || !threads ||
      state.empty()) {
    return std::nullopt;
  }
  const bool leader_ended = state == "Z" || state == "X";
  return ProcessInfo{.pid = *pid,
                     .parent = *parent,
                     .group = *group,
                     .session = *session,
                     .alive = !leader_ended || *threads > 1,
                     .exiting = (*flags & kFlagExiting) != 0,
                     .stopped = state == "T"};
}

std::optional<ProcessInfo> LookAt(pid_t pid) {
  return ReadProcess(AT_FDCWD, ("/proc/" + std::to_string(pid)).c_str());
}

std::vector<ProcessInfo> ScanProcesses() {
  std::vector<ProcessInfo> processes;
  const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
  if (proc == nullptr) return processes;
  // One reader of this directory stream only.
  while (const dirent* entry =
             ::readdir(proc.get())) {  // NOLINT(concurrency-mt-unsafe)
    const char first = entry->d_name[0];
    if (first < '1' || first > '9') continue;
    if (auto process = ReadProcess(::dirfd(proc.get()), entry->d_name)) {
      processes.push_back(*process);
    }
  }
  return processes;
}

std::vector<ProcessInfo> DescendantsOf(
    const std::vector<ProcessInfo>& processes, pid_t root) {
  std::unordered_multimap<pid_t, const ProcessInfo*> children;
  children.reserve(processes.size());
  for (const ProcessInfo& process : processes) {
    children.emplace(process.parent, &process);
  }
  std::vector<ProcessInfo> found;
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      // A snapshot is not taken in one instant, so a reused pid could close a
      // circle; each process is visited once.
      if (child->second == nullptr) continue;
      found.push_back(*child->second);
      parents.push_back(child->second->pid);
      child->second = nullptr;
    }
  }
  return found;
}

}  // namespace hvd
