#include "bench/output_bare.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/unique_fd.h"

namespace hvd::bench {
namespace {

struct Source {
  UniqueFd fd;
  std::string tag;
  std::string rest;  // a line without its end yet
};

bool WriteAll(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(1, bytes.data() + at, bytes.size() - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

void Split(Source& source, std::string_view bytes, std::string& out) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    const void* found = std::memchr(at, '\n', static_cast<size_t>(end - at));
    if (found == nullptr) break;
    const char* stop = static_cast<const char*>(found) + 1;
    out.append(source.tag).append(source.rest).append(at, stop);
    source.rest.clear();
    at = stop;
  }
  source.rest.append(at, end);
}

Source StartWorker(const std::string& program, int rank, const std::string& how,
                   const std::string& lines) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  const std::string number = std::to_string(rank);
  const Result<pid_t> pid =
      Spawn({.program = program,
             .argv = {program, "worker", number, how, lines},
             .env = {},
             .cwd = "",
             .stdout_fd = writer.get()});
  if (!pid.ok()) return {};
  return {std::move(reader), '[' + number + "]<stdout>:", ""};
}

}  // namespace

int RunBareLoop(const std::string& program, int workers, const std::string& how,
                const std::string& lines) {
  std::vector<Source> sources;
  for (int rank = 0; rank < workers; ++rank) {
    sources.push_back(StartWorker(program, rank, how, lines));
  }
  std::vector<char> buffer(64U << 10U);
  std::string out;
  for (int open = workers; open > 0;) {
    std::vector<pollfd> fds;
    for (const Source& source : sources) {
      fds.push_back({source.fd.get(), POLLIN, 0});
    }
    ::poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (fds[i].revents == 0) continue;
      const ssize_t n = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (n <= 0) {
        sources[i].fd.Reset();
        --open;
        continue;
      }
      Split(sources[i], {buffer.data(), static_cast<std::size_t>(n)}, out);
      if (!WriteAll(out)) return 1;
      out.clear();
    }
  }
  while (::wait(nullptr) > 0) {
  }
  return 0;
}

}  // namespace hvd::bench
