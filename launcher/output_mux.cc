#include "launcher/output_mux.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "launcher/output_pipe.h"
#include "launcher/output_tag.h"
#include "launcher/output_worker.h"

namespace hvd {
namespace {

// As much as a worker's pipe holds (output_pipe.cc): one read empties it.
constexpr std::size_t kReadSize = 256U << 10U;
// An unfinished line (a prompt, a progress bar) is shown after this.
constexpr Duration kHoldTime{200};
// How many ended workers LastStderr() still knows.
constexpr std::size_t kRememberedWorkers = 256;
// The disk has this long to take what files were given when the job is over.
constexpr Duration kFilesPatience{1000};

// Whether two descriptors write to one terminal, pipe or file, as after 2>&1.
bool SameFile(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Result<std::unique_ptr<OutputMux>> OutputMux::Start(EventLoop& loop,
                                                    OutputOptions options,
                                                    OutputHandlers handlers) {
  std::unique_ptr<OutputMux> mux(
      new OutputMux(loop, std::move(options), std::move(handlers)));
  const Status files = mux->OpenFiles();
  if (!files.ok()) return files.error();
  return mux;
}

OutputMux::OutputMux(EventLoop& loop, OutputOptions options,
                     OutputHandlers handlers)
    : loop_(loop),
      options_(std::move(options)),
      handlers_(std::move(handlers)) {
  AddSink(OutputStream::kStdout, options_.stdout_fd);
  if (!SameFile(options_.stdout_fd, options_.stderr_fd)) {
    AddSink(OutputStream::kStderr, options_.stderr_fd);
  }
  read_buffer_.resize(kReadSize);
}

OutputMux::~OutputMux() = default;

void OutputMux::AddSink(OutputStream stream, int fd) {
  sinks_.push_back(std::make_unique<OutputSink>(
      loop_, fd, std::string(Name(stream)),
      [this, stream](const Error* broken) { OnSinkChange(stream, broken); }));
}

Status OutputMux::OpenFiles() {
  if (options_.files_directory.empty()) return Done{};
  OutputWriter::Handlers handlers{
      .on_space = [this] { UpdateWatches(); },
      .on_broken =
          [this](const std::string&, const Error& error) {
            PrintLine("hvdrun: " + error.message() +
                      "; what goes there is lost from here on");
            UpdateWatches();
          },
      .on_empty = [this] { CheckFlushed(); }};
  auto files =
      OutputFiles::Create(loop_, options_.files_directory,
                          options_.expected_workers, std::move(handlers));
  if (!files.ok()) return files.error();
  files_ = std::move(files).value();
  files_->set_patience(kFilesPatience);
  return Done{};
}

void OutputMux::AddWorker(LaunchId id, int rank, Epoch epoch,
                          UniqueFd stdout_read, UniqueFd stderr_read) {
  auto added = std::make_unique<Worker>();
  Worker& worker = *added;
  HVD_CHECK(workers_.emplace(id, std::move(added)).second);
  worker.rank = rank;
  AddStream(worker, OutputStream::kStdout, std::move(stdout_read), epoch);
  AddStream(worker, OutputStream::kStderr, std::move(stderr_read), epoch);
  Relabel(id, rank, epoch);
}

void OutputMux::AddStream(Worker& worker, OutputStream which, UniqueFd fd,
                          Epoch epoch) {
  Stream& stream = worker.streams[static_cast<std::size_t>(which)];
  stream.which = which;
  stream.fd = std::move(fd);
  // This end is ours alone: the worker's end and its flags are not touched.
  ::fcntl(stream.fd.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
  if (files_) stream.file = files_->Open(worker.rank, epoch, which);
  stream.watch = loop_.OnReadable(stream.fd.get(), [this, &worker, &stream] {
    OnReadable(worker, stream);
  });
  UpdateWatch(stream);
}

void OutputMux::Relabel(LaunchId id, int rank, Epoch epoch) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  for (Stream& stream : found->second->streams) {
    stream.tag = OutputTag(rank, epoch, Name(stream.which));
  }
}

void OutputMux::OnReadable(Worker& worker, Stream& stream) {
  const ssize_t n =
      ::read(stream.fd.get(), read_buffer_.data(), read_buffer_.size());
  if (n > 0) {
    const auto size = static_cast<std::size_t>(n);
    Take(worker, stream, {read_buffer_.data(), size});
    RestIfBusy(stream, size);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    Close(stream);
  }
  Commit();
}

void OutputMux::RestIfBusy(Stream& stream, std::size_t size) {
  if (!stream.pacer.RestAfter(size, loop_.Now())) return;
  stream.resting = true;
  UpdateWatch(stream);
  if (rest_timer_) return;
  rest_timer_ = loop_.After(ReadPacer::kRest, [this] {
    rest_timer_.reset();
    for (const auto& [id, other] : workers_) {
      for (Stream& rested : other->streams) rested.resting = false;
    }
    UpdateWatches();
  });
}

void OutputMux::Take(Worker& worker, Stream& stream, std::string_view bytes) {
  if (stream.file) files_->Write(stream.file, bytes);
  if (stream.which == OutputStream::kStderr) worker.last_stderr.Append(bytes);
  if (!Shown(stream)) return;
  if (SinkOf(stream.which).overfull()) {
    stream.dropped += bytes.size();
    return;
  }
  Print(stream, bytes);
}

bool OutputMux::Shown(const Stream& stream) const {
  const bool files_only =
      stream.file && options_.files_mode == OutputFilesMode::kOnly;
  return show_workers_ && options_.mode != OutputMode::kNone && !files_only &&
         !SinkOf(stream.which).broken();
}

void OutputMux::Print(Stream& stream, std::string_view bytes) {
  const std::string tag = LineStart(stream);
  OutputSink& sink = SinkOf(stream.which);
  bool any_piece = false;
  stream.splitter.Feed(
      bytes, [&](std::string_view head, std::string_view body, PieceEnd end) {
        any_piece = true;
        EmitPiece(sink, stream, tag, {head, body, end});
      });
  if (!stream.splitter.holds()) return;
  // A line that grows slowly is shown by its age, not when it pauses.
  if (any_piece || stream.held_since == Instant()) {
    stream.held_since = loop_.Now();
  }
  ArmHeldTimer();
}

std::string OutputMux::LineStart(const Stream& stream) const {
  if (options_.mode != OutputMode::kTag || !options_.timestamps) {
    return stream.tag;
  }
  return OutputTimestamp(WallNow()) + stream.tag;
}

void OutputMux::EmitPiece(OutputSink& sink, const Stream& stream,
                          std::string_view tag, const LinePiece& piece) {
  if (options_.mode == OutputMode::kRaw) {
    sink.Raw(piece.head, piece.body);
  } else {
    sink.Piece(&stream, tag, piece.head, piece.body, piece.end);
  }
}

void OutputMux::ShowHeld(Stream& stream) {
  stream.held_since = Instant();
  if (!stream.splitter.holds()) return;
  const std::string tag = LineStart(stream);
  OutputSink& sink = SinkOf(stream.which);
  stream.splitter.Show(
      [&](std::string_view head, std::string_view body, PieceEnd end) {
        EmitPiece(sink, stream, tag, {head, body, end});
      });
}

// One timer for all: it looks every kHoldTime at most, while a line is held.
void OutputMux::ArmHeldTimer() {
  if (held_timer_) return;
  held_timer_ = loop_.After(kHoldTime, [this] { OnHeldTimer(); });
}

void OutputMux::OnHeldTimer() {
  held_timer_.reset();
  const Instant now = loop_.Now();
  Instant next = Instant::max();
  for (const auto& [id, worker] : workers_) {
    for (Stream& stream : worker->streams) {
      if (!stream.splitter.holds()) continue;
      // The rest of the line may be there, and it is we who don't read.
      if (BytesWaiting(stream.fd.get()) > 0) stream.held_since = now;
      if (now - stream.held_since >= kHoldTime) {
        ShowHeld(stream);
      } else {
        next = std::min(next, stream.held_since + kHoldTime);
      }
    }
  }
  if (next != Instant::max()) {
    held_timer_ = loop_.At(next, [this] { OnHeldTimer(); });
  }
  Commit();
}

void OutputMux::Close(Stream& stream) {
  ShowHeld(stream);
  stream.watch.reset();
  stream.fd.Reset();
  for (const auto& sink : sinks_) sink->Forget(&stream);
}

void OutputMux::Drain(LaunchId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second->ended) return;
  Worker& worker = *found->second;
  worker.ended = true;
  std::size_t dropped = 0;
  for (Stream& stream : worker.streams) {
    DrainStream(worker, stream);
    dropped += stream.dropped;
  }
  if (dropped > 0) {
    PrintLine("hvdrun: rank " + std::to_string(worker.rank) + ": " +
              std::to_string(dropped) +
              " bytes of its output were dropped: nobody read them");
  }
  ended_.push_back(id);
  ForgetOldWorkers();
  Commit();
}

// No more than there is now: a grandchild may go on writing for ever.
void OutputMux::DrainStream(Worker& worker, Stream& stream) {
  std::size_t left = BytesWaiting(stream.fd.get());
  while (left > 0) {
    const ssize_t n = ::read(stream.fd.get(), read_buffer_.data(),
                             std::min(left, read_buffer_.size()));
    if (n <= 0) break;
    const auto size = static_cast<std::size_t>(n);
    Take(worker, stream, {read_buffer_.data(), size});
    Commit();
    left -= size;
  }
  ShowHeld(stream);
}

void OutputMux::ForgetOldWorkers() {
  while (ended_.size() > kRememberedWorkers) {
    const auto oldest = workers_.find(ended_.front());
    ended_.pop_front();
    for (Stream& stream : oldest->second->streams) Close(stream);
    workers_.erase(oldest);
  }
}

std::vector<std::string> OutputMux::LastStderr(LaunchId id) const {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return {};
  return found->second->last_stderr.Lines();
}

void OutputMux::PrintLine(std::string_view text) {
  SinkOf(OutputStream::kStderr).OwnLine(text);
  Commit();
}

void OutputMux::PrintWorkerLog(int rank, Epoch epoch, std::string_view text) {
  const std::string tag = OutputTag(rank, epoch, "log");
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string lines = tag;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += tag;
  }
  SinkOf(OutputStream::kStdout).OwnLine(lines);
  Commit();
}

void OutputMux::Commit() {
  for (const auto& sink : sinks_) sink->Commit();
  const bool files_full = files_ && files_->Full();
  const auto stalled = [](const auto& sink) { return sink->stalled(); };
  if (files_full || std::any_of(sinks_.begin(), sinks_.end(), stalled)) {
    UpdateWatches();
  }
}

void OutputMux::OnSinkChange(OutputStream stream, const Error* broken) {
  UpdateWatches();
  CheckFlushed();
  if (broken != nullptr && handlers_.on_broken) {
    handlers_.on_broken(stream, *broken);
  }
}

void OutputMux::UpdateWatches() {
  files_stalled_ =
      files_ && (files_->Full() || (files_stalled_ && files_->HalfFull()));
  for (const auto& [id, worker] : workers_) {
    for (Stream& stream : worker->streams) UpdateWatch(stream);
  }
}

void OutputMux::UpdateWatch(Stream& stream) {
  if (!stream.watch) return;
  const bool pause = stream.resting ||
                     (Shown(stream) && SinkOf(stream.which).stalled()) ||
                     (stream.file && files_stalled_);
  if (pause == stream.paused) return;
  stream.paused = pause;
  if (pause) {
    stream.watch->Pause();
  } else {
    stream.watch->Resume();
  }
}

void OutputMux::Flush(std::function<void()> done) {
  flush_done_.push_back(std::move(done));
  Commit();
  AskWhenEmpty();
}

void OutputMux::AskWhenEmpty() {
  for (const auto& sink : sinks_) sink->NotifyWhenEmpty();
  if (files_) files_->NotifyWhenEmpty();
}

// Called when one of the writers has become empty: are they all?
void OutputMux::CheckFlushed() {
  if (flush_done_.empty()) return;
  if (QueuedBytes() > 0 || (files_ && files_->queued() > 0)) {
    AskWhenEmpty();
    return;
  }
  const auto done = std::exchange(flush_done_, {});
  const std::weak_ptr<int> alive = alive_;
  for (const auto& fn : done) {
    if (fn) fn();
    if (alive.expired()) return;
  }
}

std::size_t OutputMux::QueuedBytes() const {
  std::size_t total = 0;
  for (const auto& sink : sinks_) total += sink->queued();
  return total;
}

void OutputMux::Abandon() {
  show_workers_ = false;
  for (const auto& sink : sinks_) sink->DropQueued();
  UpdateWatches();
}

bool OutputMux::broken(OutputStream stream) const {
  return SinkOf(stream).broken();
}

OutputSink& OutputMux::SinkOf(OutputStream stream) const {
  return stream == OutputStream::kStdout ? *sinks_.front() : *sinks_.back();
}

}  // namespace hvd
