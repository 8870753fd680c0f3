// BatchLog: which images each rank took for each step, in one file for all
// ranks.
//
// A rank writes before it steps, so what is in the file may have been undone
// since: where the first step of a newer world is an older step again, that
// world went back to a commit, and its lines count instead.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace digits {

class BatchLog {
 public:
  // Appends to the file, which is made. Throws std::runtime_error.
  explicit BatchLog(const std::string& path);
  ~BatchLog();
  BatchLog(const BatchLog&) = delete;
  BatchLog& operator=(const BatchLog&) = delete;

  // "world=2 rank=0 pid=4711 epoch=3 step=14 images=7,512,80", all from 0 but
  // the world.
  void Write(std::size_t epoch, std::size_t step,
             const std::vector<std::size_t>& images);

 private:
  std::string path_;
  int fd_;
};

}  // namespace digits
