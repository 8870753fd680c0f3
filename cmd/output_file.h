// OutputFile: a file that holds the outcome of a job, or does not exist.
//
// What an earlier job left under that name is removed before anything starts,
// so that a file that is there was written by this job. It appears whole, by a
// rename, readable by the user alone (a result may be private).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hvd {

class OutputFile {
 public:
  // Removes an old file at `path`. kInvalidArgument: no file could be made
  // there (no such directory, not writable, is a directory).
  static Result<OutputFile> Prepare(std::string path);

  Status Write(std::string_view bytes) const;
  const std::string& path() const { return path_; }

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace hvd
