#include "launcher/output_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "launcher/output_tag.h"

namespace hvd {
namespace {

// A burst of all workers at once is held in memory rather than holding them up.
constexpr std::size_t kFull = 16U << 20U;

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Error{ErrorCode::kUnavailable,
                 "output directory " + path + ": " + error.message()};
  }
  return Done{};
}

Result<UniqueFd> OpenFile(const std::string& path, int more_flags) {
  UniqueFd fd(::open(path.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | more_flags,
                     0666));
  if (!fd.valid()) return Error::FromErrno("output file " + path, errno);
  return fd;
}

}  // namespace

std::string PaddedRank(int rank, int workers) {
  const std::size_t width = std::to_string(std::max(workers - 1, 0)).size();
  std::string digits = std::to_string(rank);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

OutputFiles::OutputFiles(EventLoop& loop, std::string directory, int workers,
                         OutputWriter::Handlers handlers)
    : directory_(std::move(directory)),
      workers_(workers),
      on_broken_(handlers.on_broken),
      writer_(loop, kFull, std::move(handlers)) {}

Result<std::unique_ptr<OutputFiles>> OutputFiles::Create(
    EventLoop& loop, std::string directory, int workers,
    OutputWriter::Handlers handlers) {
  std::unique_ptr<OutputFiles> files(new OutputFiles(
      loop, std::move(directory), workers, std::move(handlers)));
  for (int rank = 0; rank < workers; ++rank) {
    const std::string place = files->DirectoryOf(rank);
    const Status made = MakeDirectories(place);
    if (!made.ok()) return made.error();
    for (const auto stream : {OutputStream::kStdout, OutputStream::kStderr}) {
      const Result<UniqueFd> fd =
          OpenFile(place + '/' + std::string(Name(stream)), O_TRUNC);
      if (!fd.ok()) return fd.error();
    }
  }
  return files;
}

std::string OutputFiles::DirectoryOf(int rank) const {
  return directory_ + "/rank." + PaddedRank(rank, workers_);
}

std::shared_ptr<OutputTarget> OutputFiles::Open(int rank, Epoch epoch,
                                                OutputStream stream) {
  std::shared_ptr<OutputTarget>& file = files_[{rank, stream}];
  if (file != nullptr) {
    writer_.StartLine(file);
    writer_.Write(file, "--- hvdrun: rank " + std::to_string(rank) +
                            " started again in epoch " +
                            std::to_string(static_cast<std::uint64_t>(epoch)) +
                            ", " + OutputTimestamp(WallNow()) + " ---\n");
    return file;
  }
  const std::string place = DirectoryOf(rank);
  const std::string path = place + '/' + std::string(Name(stream));
  const Status made = MakeDirectories(place);
  Result<UniqueFd> fd = made.ok()
                            ? OpenFile(path, rank < workers_ ? 0 : O_TRUNC)
                            : Result<UniqueFd>(made.error());
  if (!fd.ok()) {
    if (on_broken_) on_broken_(path, fd.error());
    return nullptr;
  }
  file = writer_.Own(std::move(fd).value(), "output file " + path);
  return file;
}

}  // namespace hvd
