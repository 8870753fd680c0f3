#include "discovery/name_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace hvd {
namespace {

constexpr std::uint32_t kRemovedMask = IN_DELETE | IN_MOVED_FROM;
constexpr std::uint32_t kWrittenMask = IN_CLOSE_WRITE | IN_MOVED_TO;
// Of the directory itself; IN_IGNORED comes unasked when it is deleted.
constexpr std::uint32_t kGoneMask = IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;

std::string NameOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::optional<NameChange> ChangeOf(std::uint32_t mask, bool is_ours) {
  if ((mask & kGoneMask) != 0) return NameChange::kDirectoryGone;
  // Some events were lost, perhaps ours.
  if ((mask & IN_Q_OVERFLOW) != 0) return NameChange::kWritten;
  if (!is_ours) return std::nullopt;
  if ((mask & kWrittenMask) != 0) return NameChange::kWritten;
  if ((mask & kRemovedMask) != 0) return NameChange::kRemoved;
  if ((mask & IN_CREATE) != 0) return NameChange::kCreated;
  return std::nullopt;
}

// The last change in what one read() of an inotify descriptor gave.
std::optional<NameChange> LastChange(std::string_view bytes,
                                     const std::string& name) {
  std::optional<NameChange> last;
  while (bytes.size() >= sizeof(inotify_event)) {
    inotify_event event{};
    std::memcpy(&event, bytes.data(), sizeof event);
    bytes.remove_prefix(sizeof event);
    // Padded with zeros.
    const std::string_view padded = bytes.substr(0, event.len);
    const std::string_view its_name = padded.substr(0, padded.find('\0'));
    bytes.remove_prefix(padded.size());
    const auto change = ChangeOf(event.mask, its_name == name);
    if (change) last = change;
    if (last == NameChange::kDirectoryGone) break;
  }
  return last;
}

Error WatchError(const std::string& directory, int err) {
  Error error = Error::FromErrno(directory + ": cannot be watched", err);
  if (err == ENOSPC) {
    return std::move(error).WithHint(
        "too many watches: raise sysctl fs.inotify.max_user_watches");
  }
  if (err == EMFILE) {
    return std::move(error).WithHint(
        "too many watchers: raise sysctl fs.inotify.max_user_instances");
  }
  return error;
}

}  // namespace

std::string DirectoryOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

Result<std::unique_ptr<NameWatch>> NameWatch::Start(EventLoop& loop,
                                                    const std::string& path,
                                                    ChangeHandler on_change) {
  const std::string directory = DirectoryOf(path);
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.valid()) return WatchError(directory, errno);
  const int watch = ::inotify_add_watch(
      inotify.get(), directory.c_str(),
      kWrittenMask | kRemovedMask | IN_CREATE | IN_MOVE_SELF | IN_ONLYDIR);
  if (watch < 0) return WatchError(directory, errno);
  return std::unique_ptr<NameWatch>(new NameWatch(
      loop, std::move(inotify), NameOf(path), std::move(on_change)));
}

NameWatch::NameWatch(EventLoop& loop, UniqueFd inotify, std::string name,
                     ChangeHandler on_change)
    : inotify_(std::move(inotify)),
      name_(std::move(name)),
      on_change_(std::move(on_change)),
      readable_(loop.OnReadable(inotify_.get(), [this] { OnReadable(); })) {}

void NameWatch::OnReadable() {
  std::array<char, 65536> buffer{};
  const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
  if (n <= 0) return;
  const auto change = LastChange(
      std::string_view(buffer.data(), static_cast<std::size_t>(n)), name_);
  if (!change) return;
  if (change == NameChange::kDirectoryGone) readable_.reset();
  const ChangeHandler on_change = on_change_;  // outlives this
  on_change(*change);
}

}  // namespace hvd
