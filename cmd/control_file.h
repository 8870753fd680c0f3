// ControlFile: what a script needs to push hosts to a running job, as a
// configuration of curl's, so that no secret stands on a command line.
//
// It appears whole, by a rename, readable by the user alone, in place of what
// an earlier job left there. It goes with its object, unless another job has
// put its own in this place. After a SIGKILL it stays, and opens nothing: the
// one process that knew its token is gone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class ControlFile {
 public:
  // For a server on this host's loopback. kInvalidArgument: no file can be made
  // there (no such directory, not writable), or something there is no file.
  static Result<ControlFile> Make(const std::string& path, std::uint16_t port,
                                  const std::string& token);
  ~ControlFile() { Remove(); }
  ControlFile(ControlFile&& other) noexcept = default;
  ControlFile& operator=(ControlFile&& other) noexcept;

 private:
  ControlFile(std::string path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  void Remove();

  std::string path_;
  // Of the file that was made. As long as it is open no other file gets its
  // number. Moved from: none.
  UniqueFd fd_;
};

}  // namespace hvd
