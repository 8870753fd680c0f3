#include "base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"

namespace hvd {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return Error::FromErrno(path, errno);
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::FromErrno(path, errno);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > kMaxBytes) {
      return Error{ErrorCode::kInvalidArgument, path + ": larger than 16 MiB"};
    }
  }
}

}  // namespace hvd
