#include "discovery/watched_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/read_file.h"

namespace hvd {
namespace {

bool IsLink(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// A name that was not made by opening a file for writing.
bool IsHardLink(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && info.st_nlink > 1;
}

bool Exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// To read from a named pipe would block the loop.
Result<std::string> ReadRegularFile(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, path + ": not a regular file"};
  }
  return ReadWholeFile(path);
}

// What a symbolic link leads to in the end; empty if it leads nowhere.
std::string TargetOf(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> target(
      ::realpath(path.c_str(), nullptr), ::free);
  return target ? std::string(target.get()) : std::string();
}

}  // namespace

WatchedFile::WatchedFile(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {}

void WatchedFile::Start(DiscoveryHandlers handlers) {
  news_.emplace(Name(), std::move(handlers));
  timer_ = loop_.After(Duration::zero(), [this] { Begin(); });
}

// Watched first: no change between the two goes unseen.
void WatchedFile::Begin() {
  auto watch = NameWatch::Start(
      loop_, options_.path, [this](NameChange change) { OnChange(change); });
  if (watch.ok()) {
    watch_ = std::move(watch).value();
  } else if (Exists(options_.path)) {
    (void)news_->Tell(DiscoveryFailure{FailureKind::kUnwatched,
                                       std::move(watch).error().Wrap(Name())});
    return;
  }
  Read();
}

void WatchedFile::OnChange(NameChange change) {
  switch (change) {
    case NameChange::kWritten:
      return Read();
    case NameChange::kCreated:
      // A file is read when its writer closes it; a link is whole at once.
      if (IsLink(options_.path) || IsHardLink(options_.path)) Read();
      return;
    case NameChange::kRemoved:
      return LookLater();
    case NameChange::kDirectoryGone:
      timer_.reset();
      (void)news_->Tell(DiscoveryFailure{
          FailureKind::kUnwatched,
          {ErrorCode::kUnavailable,
           Name() + ": its directory is gone, changes are not seen any more"}});
      return;
  }
}

void WatchedFile::OnTargetChange(NameChange change) {
  if (change == NameChange::kDirectoryGone) target_.clear();
  if (change == NameChange::kWritten) {
    Read();
  } else if (change != NameChange::kCreated) {
    LookLater();
  }
}

void WatchedFile::LookLater() {
  timer_ = loop_.After(options_.gone_grace, [this] { LookAgain(); });
}

// What exists again is still being written, or was read when it was closed.
void WatchedFile::LookAgain() {
  if (Exists(options_.path) && !IsLink(options_.path)) return;
  Read();
}

void WatchedFile::Read() {
  timer_.reset();
  WatchTarget();
  Result<std::string> text = ReadRegularFile(options_.path);
  if (text.ok()) {
    (void)news_->Tell(
        ParseAttempt(text.value(), Name(), options_.slots_per_host));
    return;
  }
  const FailureKind kind =
      Exists(options_.path) ? FailureKind::kUnreadable : FailureKind::kGone;
  (void)news_->Tell(DiscoveryFailure{
      kind, Error{text.error().code(), "hostfile " + text.error().message()}});
}

// A link that leads nowhere may soon lead to its old target again.
void WatchedFile::WatchTarget() {
  const bool is_link = IsLink(options_.path);
  const std::string target = is_link ? TargetOf(options_.path) : "";
  if (target == target_ || (is_link && target.empty())) return;
  target_ = target;
  target_watch_.reset();
  if (target.empty()) return;
  auto watch = NameWatch::Start(
      loop_, target, [this](NameChange change) { OnTargetChange(change); });
  // Without it, the link itself is watched still.
  if (watch.ok()) target_watch_ = std::move(watch).value();
}

}  // namespace hvd
