// OutputFiles: DIR/rank.<n>/stdout and stderr, what each worker printed, bytes
// as they came.
//
// Writes on a thread of its own: a slow disk holds up no signal. A job's first
// worker of a rank truncates what an earlier job left, each later one appends
// below a header line.
//
// Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/event_loop.h"
#include "base/result.h"
#include "launcher/output_stream.h"
#include "launcher/output_writer.h"
#include "rendezvous/world.h"

namespace hvd {

// "07" for rank 7 of 11 to 100 workers: floor(log10(np - 1)) + 1 digits, as
// horovodrun pads, and one digit for one worker. Pure.
std::string PaddedRank(int rank, int workers);

class OutputFiles {
 public:
  // Makes the directory with its parents, and empty files for `workers` ranks.
  // Errors name the path.
  static Result<std::unique_ptr<OutputFiles>> Create(
      EventLoop& loop, std::string directory, int workers,
      OutputWriter::Handlers handlers);

  // The file of this rank, for a worker that starts now; null if it can't be
  // opened, which `on_broken` is told.
  std::shared_ptr<OutputTarget> Open(int rank, Epoch epoch,
                                     OutputStream stream);
  void Write(const std::shared_ptr<OutputTarget>& target,
             std::string_view bytes) {
    writer_.Write(target, bytes);
  }
  void NotifyWhenEmpty() { writer_.NotifyWhenEmpty(); }
  void set_patience(Duration patience) { writer_.set_patience(patience); }

  bool Full() const { return writer_.Full(); }
  bool HalfFull() const { return writer_.queued() >= writer_.full() / 2; }
  std::size_t queued() const { return writer_.queued(); }

 private:
  OutputFiles(EventLoop& loop, std::string directory, int workers,
              OutputWriter::Handlers handlers);
  std::string DirectoryOf(int rank) const;

  std::string directory_;
  int workers_;
  std::function<void(const std::string&, Error)> on_broken_;
  OutputWriter writer_;
  std::map<std::pair<int, OutputStream>, std::shared_ptr<OutputTarget>> files_;
};

}  // namespace hvd
