// OutputMux: carries what the workers print to hvdrun's own stdout and stderr,
// and to a file per worker.
//
// Reads each worker's two pipes on the loop, puts a tag before each line, and
// hands whole buffers to a thread that does the blocking writes. When that
// thread's queue is full the mux stops reading, so the workers wait in their
// own writes: memory stays bounded, and nothing else of hvdrun waits. What a
// worker wrote is never decoded and, but for tags, never changed.
//
// It decides nothing: that a reader is gone is told, not acted upon.
// Loop thread only; handlers run on the loop. Destroy it before the loop.
// Source of tags, padding and "\r": horovodrun (docs/design/output.md says
// where we differ).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/line_splitter.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "launcher/output_files.h"
#include "launcher/output_mode.h"
#include "launcher/output_sink.h"
#include "launcher/output_stream.h"
#include "launcher/stderr_tail.h"
#include "rendezvous/world.h"

namespace hvd {

struct OutputOptions {
  OutputMode mode = OutputMode::kTag;
  // "2026-11-30T10:44:19.123+0100" in front of the tag.
  bool timestamps = false;
  // --output-filename: DIR/rank.<n>/stdout and stderr; empty: none.
  std::string files_directory = {};
  OutputFilesMode files_mode = OutputFilesMode::kTee;
  int expected_workers = 1;  // how wide ranks are padded in file names
  // Where output goes; borrowed, never made non-blocking.
  int stdout_fd = 1;
  int stderr_fd = 2;
};

struct OutputHandlers {
  // hvdrun's stdout or stderr can't be written any more (its reader is gone,
  // the disk is full): what goes there is dropped from now on, files and
  // LastStderr() still get everything. Once a stream. A message for the user.
  std::function<void(OutputStream, Error)> on_broken = {};
};

class OutputMux {
 public:
  // Makes the directories and the files of `expected_workers` ranks; errors
  // name the path.
  static Result<std::unique_ptr<OutputMux>> Start(EventLoop& loop,
                                                  OutputOptions options,
                                                  OutputHandlers handlers);
  // Waits for nothing on stdout and stderr, and at most a second for files.
  ~OutputMux();
  OutputMux(const OutputMux&) = delete;
  OutputMux& operator=(const OutputMux&) = delete;

  // Takes over the read ends of a worker's pipes (MakeOutputPipe). A second
  // worker of a rank appends to its files below a header line.
  void AddWorker(LaunchId id, int rank, Epoch epoch, UniqueFd stdout_read,
                 UniqueFd stderr_read);
  // From its next line on the worker is shown as this rank of this epoch. Its
  // files stay those of the rank it started as.
  void Relabel(LaunchId id, int rank, Epoch epoch);
  // The worker has ended: takes what its pipes hold now, all of it, and shows
  // an unfinished last line. What still holds the pipes open (a grandchild) is
  // not waited for; what it prints later is shown if there is a later.
  void Drain(LaunchId id);
  // The last lines of a worker's stderr, oldest first: at most 20 and 8 KiB.
  // Bytes as they came; of a line that a progress bar rewrote, its last form.
  std::vector<std::string> LastStderr(LaunchId id) const;

  // A line of hvdrun's own, on stderr. It waits for no worker's output to be
  // read, never blocks, and has room kept for it in the queue.
  void PrintLine(std::string_view text);
  // hvd::LogToDriver: "[3]<log>:text" on stdout, each of its lines.
  void PrintWorkerLog(int rank, Epoch epoch, std::string_view text);
  // --driver-log callback-only: false keeps what workers print off stdout and
  // stderr; files, LastStderr() and PrintWorkerLog() go on. Default true.
  void ShowWorkers(bool show) { show_workers_ = show; }

  // `done` runs once everything queued by now is written or can't be.
  void Flush(std::function<void()> done);
  // Queued for stdout and stderr, not yet written.
  std::size_t QueuedBytes() const;
  // Drops what is queued for stdout and stderr, now and from now on, but for
  // hvdrun's own later lines: the job is over and nobody reads.
  void Abandon();
  // Whether stdout (stderr) broke, see on_broken.
  bool broken(OutputStream stream) const;

 private:
  struct Stream;
  struct Worker;
  struct LinePiece {
    std::string_view head;
    std::string_view body;
    PieceEnd end;
  };

  OutputMux(EventLoop& loop, OutputOptions options, OutputHandlers handlers);

  void AddSink(OutputStream stream, int fd);
  Status OpenFiles();
  void AddStream(Worker& worker, OutputStream which, UniqueFd fd, Epoch epoch);
  void OnReadable(Worker& worker, Stream& stream);
  void RestIfBusy(Stream& stream, std::size_t size);
  void Take(Worker& worker, Stream& stream, std::string_view bytes);
  void Print(Stream& stream, std::string_view bytes);
  void EmitPiece(OutputSink& sink, const Stream& stream, std::string_view tag,
                 const LinePiece& piece);
  std::string LineStart(const Stream& stream) const;
  bool Shown(const Stream& stream) const;
  void ShowHeld(Stream& stream);
  void Close(Stream& stream);
  void DrainStream(Worker& worker, Stream& stream);
  void ForgetOldWorkers();
  void ArmHeldTimer();
  void OnHeldTimer();
  void Commit();
  void OnSinkChange(OutputStream stream, const Error* broken);
  void UpdateWatches();
  void UpdateWatch(Stream& stream);
  void AskWhenEmpty();
  void CheckFlushed();
  OutputSink& SinkOf(OutputStream stream) const;

  EventLoop& loop_;
  OutputOptions options_;
  OutputHandlers handlers_;
  bool show_workers_ = true;
  bool files_stalled_ = false;
  // One if stdout and stderr are the same file.
  std::vector<std::unique_ptr<OutputSink>> sinks_;
  std::unique_ptr<OutputFiles> files_;
  std::map<LaunchId, std::unique_ptr<Worker>> workers_;
  std::deque<LaunchId> ended_;  // the oldest first
  std::string read_buffer_;
  std::unique_ptr<Timer> held_timer_;
  std::unique_ptr<Timer> rest_timer_;
  std::vector<std::function<void()>> flush_done_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace hvd
