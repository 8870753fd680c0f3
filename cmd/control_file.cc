#include "cmd/control_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/write_all.h"

namespace hvd {
namespace {

// No proxy: what the environment says of one must not lead the token out of
// this host. No progress bar, and an exit code that a script can go by.
std::string CurlConfiguration(std::uint16_t port, const std::string& token) {
  return "# Pushes hosts to a running job of hvdrun; gone when the job ends.\n"
         "#   curl --config THIS_FILE --upload-file hosts\n"
         "# Whoever can read this can push hosts, and do nothing else.\n"
         "url = \"http://127.0.0.1:" +
         std::to_string(port) +
         "/v1/hosts\"\n"
         "header = \"Authorization: Bearer " +
         token +
         "\"\n"
         "request = \"PUT\"\n"
         "noproxy = \"*\"\n"
         "max-time = 30\n"
         "fail-with-body\n"
         "silent\n"
         "show-error\n";
}

Error Unwritable(const std::string& path, int err) {
  return {ErrorCode::kInvalidArgument,
          Error::FromErrno("write " + path, err).message()};
}

}  // namespace

Result<ControlFile> ControlFile::Make(const std::string& path,
                                      std::uint16_t port,
                                      const std::string& token) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISLNK(info.st_mode)) {
    return Error{ErrorCode::kInvalidArgument,
                 "write " + path + ": what is there is not a regular file"};
  }
  // A name of its own, made here and now: what another user has put there could
  // be open for reading.
  std::string partial = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(partial.data(), O_CLOEXEC));
  if (!fd.valid()) return Unwritable(path, errno);
  Status written = WriteAll(fd.get(), CurlConfiguration(port, token));
  if (written.ok() && ::rename(partial.c_str(), path.c_str()) != 0) {
    written = Unwritable(path, errno);
  }
  if (!written.ok()) {
    ::unlink(partial.c_str());
    return std::move(written).error();
  }
  return ControlFile(path, std::move(fd));
}

ControlFile& ControlFile::operator=(ControlFile&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::move(other.path_);
  fd_ = std::move(other.fd_);
  return *this;
}

void ControlFile::Remove() {
  struct stat ours {};
  struct stat there {};
  if (!fd_.valid() || ::fstat(fd_.get(), &ours) != 0 ||
      ::lstat(path_.c_str(), &there) != 0) {
    return;
  }
  if (ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) {
    ::unlink(path_.c_str());
  }
}

}  // namespace hvd
