// BatchJournal: what `digits --log-batches` says, read while it trains, and
// what of it is in the weights at the end.
//
// It is a pipe and not a file: a rank that is a few steps ahead of the reader
// waits for it, so a test decides within a few steps when something happens.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace hvd::testing {

// One rank's part of one step. `at`: the steps of all epochs are counted on.
struct BatchLine {
  std::size_t world = 0;
  std::size_t rank = 0;
  pid_t pid = -1;
  std::size_t at = 0;
  std::vector<std::size_t> images;
};

class BatchJournal {
 public:
  // Makes the pipe.
  BatchJournal(std::string path, std::size_t steps_per_epoch);

  const std::string& path() const { return path_; }
  // Reads what there is. True once the newest line that was ever written by
  // this rank in a world newer than `world` is at step `at` or later.
  bool Reaches(std::size_t world, std::size_t rank, std::size_t at);
  void Read();

  // In the order they were written.
  const std::vector<BatchLine>& lines() const { return lines_; }

  // Which images were used in each step, sorted, when what was undone does not
  // count: a world begins where it was restored to, and undoes what older ones
  // have done from there on.
  std::map<std::size_t, std::vector<std::size_t>> Counted() const;

 private:
  BatchLine Parse(std::string_view line) const;

  std::string path_;
  std::size_t steps_per_epoch_;
  UniqueFd fd_;
  std::string unread_;  // of a line
  std::vector<BatchLine> lines_;
};

}  // namespace hvd::testing
