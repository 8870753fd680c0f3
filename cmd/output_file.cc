#include "cmd/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "base/write_all.h"

namespace hvd {
namespace {

Error Unwritable(const std::string& path, int err) {
  Error error = Error::FromErrno("write " + path, err);
  return {ErrorCode::kInvalidArgument, error.message()};
}

}  // namespace

Result<OutputFile> OutputFile::Prepare(std::string path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return Unwritable(path, EISDIR);
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return Unwritable(path, errno);
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Unwritable(path, errno);
  }
  return OutputFile(std::move(path));
}

Status OutputFile::Write(std::string_view bytes) const {
  const std::string partial = path_ + ".part";
  UniqueFd fd(::open(partial.c_str(),
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                     0600));
  if (!fd.valid()) return Error::FromErrno("write " + partial, errno);
  Status written = WriteAll(fd.get(), bytes);
  if (!written.ok()) {
    ::unlink(partial.c_str());
    return std::move(written).error().Wrap(partial);
  }
  if (::rename(partial.c_str(), path_.c_str()) != 0) {
    return Error::FromErrno("rename " + partial, errno);
  }
  return Done{};
}

}  // namespace hvd
