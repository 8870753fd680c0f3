#include "examples/digits/batch_log.h"

#include <fcntl.h>
#include <hvd/hvd.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace digits {
namespace {

[[noreturn]] void Fail(const std::string& path) {
  throw std::runtime_error("log " + path + ": " +
                           std::generic_category().message(errno));
}

}  // namespace

BatchLog::BatchLog(const std::string& path)
    : path_(path),
      fd_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                 0666)) {
  if (fd_ < 0) Fail(path_);
}

BatchLog::~BatchLog() { ::close(fd_); }

void BatchLog::Write(std::size_t epoch, std::size_t step,
                     const std::vector<std::size_t>& images) {
  std::string line = "world=" + std::to_string(hvd::Epoch()) +
                     " rank=" + std::to_string(hvd::Rank()) +
                     " pid=" + std::to_string(::getpid()) +
                     " epoch=" + std::to_string(epoch) +
                     " step=" + std::to_string(step) + " images=";
  for (std::size_t i = 0; i < images.size(); ++i) {
    line += (i == 0 ? "" : ",") + std::to_string(images[i]);
  }
  line += '\n';
  // One write: lines of several processes do not mix, and a killed one leaves
  // no half of a line.
  const auto size = static_cast<ssize_t>(line.size());
  if (::write(fd_, line.data(), line.size()) != size) Fail(path_);
}

}  // namespace digits
