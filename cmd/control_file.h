// ControlFile: what a script needs to push hosts to a running job, as a
// configuration of curl's, so that no secret stands on a command line.
//
// It appears whole, by a rename, readable by the user alone, in place of what
// an earlier job left there. It goes with its object, unless another job has
// put its own in this place. After a SIGKILL it stays, and opens nothing: the
// one process that knew its token is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hvd {

class ControlFile {
 public:
  // For a server on this host's loopback. kInvalidArgument: no file can be made
  // there (no such directory, not writable), or something there is no file.
  static Result<ControlFile> Make(const std::string& path, std::uint16_t port,
                                  const std::string& token);
  ~ControlFile() { Remove(); }
  ControlFile(ControlFile&& other) noexcept;
  ControlFile& operator=(ControlFile&& other) noexcept;

 private:
  ControlFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}
  void Remove();

  std::string path_;  // empty: moved from
  dev_t device_;
  ino_t inode_;
};

}  // namespace hvd
