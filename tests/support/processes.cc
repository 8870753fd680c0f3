#include "tests/support/processes.h"

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/hex.h"
#include "base/random_bytes.h"

namespace hvd::testing {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsZombie(const std::string& directory) {
  const std::string stat = ReadAll(directory + "/stat");
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos || stat.compare(end, 3, ") Z") == 0 ||
         stat.compare(end, 3, ") X") == 0;
}

}  // namespace

std::string UniqueMark() { return "hvdmark" + ToHex(RandomBytes(8)); }

std::vector<pid_t> ProcessesWith(std::string_view mark) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"),
                                                 ::closedir);
  while (const dirent* entry = ::readdir(proc.get())) {  // NOLINT: one thread
    const std::string name = static_cast<const char*>(entry->d_name);
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    const pid_t pid = std::stoi(name);
    if (pid == ::getpid()) continue;
    const std::string directory = "/proc/" + name;
    const bool marked =
        ReadAll(directory + "/cmdline").find(mark) != std::string::npos ||
        ReadAll(directory + "/environ").find(mark) != std::string::npos;
    if (marked && !IsZombie(directory)) found.push_back(pid);
  }
  return found;
}

bool NoneLeft(std::string_view mark, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!ProcessesWith(mark).empty()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    ::poll(nullptr, 0, 10);
  }
  return true;
}

}  // namespace hvd::testing
