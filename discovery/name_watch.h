// NameWatch: tells what happens to one name in its directory, through inotify.
//
// Looks at no file: another process that has it open for writing is not done,
// and only the kernel knows when it is. Changes that other hosts make on a
// shared file system are not seen.
//
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

enum class NameChange {
  kWritten,        // closed after writing, or moved here whole
  kCreated,        // a name and not yet its content, or a link
  kRemoved,        // deleted, or moved away
  kDirectoryGone,  // nothing more will be told
};

class NameWatch {
 public:
  using ChangeHandler = std::function<void(NameChange)>;

  // `on_change` gets the last change of those that are known at a time; it may
  // destroy the watch. Errors name the directory.
  static Result<std::unique_ptr<NameWatch>> Start(EventLoop& loop,
                                                  const std::string& path,
                                                  ChangeHandler on_change);

 private:
  NameWatch(EventLoop& loop, UniqueFd inotify, std::string name,
            ChangeHandler on_change);
  void OnReadable();

  UniqueFd inotify_;
  std::string name_;
  ChangeHandler on_change_;
  std::unique_ptr<FdWatch> readable_;
};

// "." for a name alone.
std::string DirectoryOf(std::string_view path);

}  // namespace hvd
