#include "launcher/output_sink.h"

#include <utility>

namespace hvd {
namespace {

// Above a pipe's size, below a cache's: more would only delay what the user
// sees when he stops reading.
constexpr std::size_t kFull = 1U << 20U;
// What ended workers had in their pipes is taken whether or not there is room,
// up to this.
constexpr std::size_t kOverfull = 64U << 20U;
constexpr std::size_t kOwnRoom = 256U << 10U;

}  // namespace

OutputSink::OutputSink(EventLoop& loop, int fd, std::string name,
                       std::function<void(const Error* broken)> on_change)
    : on_change_(std::move(on_change)),
      writer_(loop, kFull,
              {.on_space = [this] { OnSpace(); },
               .on_broken = [this](const std::string&,
                                   const Error& error) { OnBroken(error); },
               .on_empty = [this] { on_change_(nullptr); }}),
      target_(writer_.Borrow(fd, std::move(name))) {}

void OutputSink::Piece(Source source, std::string_view tag,
                       std::string_view head, std::string_view body,
                       PieceEnd end) {
  if (broken_) return;
  const bool empty = head.empty() && body.empty();
  if (open_ == source && empty) {
    if (end == PieceEnd::kFinished) open_ = nullptr;
    return;
  }
  if (empty) return;
  if (open_ != source) {
    CloseLine();
    batch_.append(tag);
  }
  batch_.append(head);
  batch_.append(body);
  open_ = end == PieceEnd::kFinished ? nullptr : source;
  at_line_start_ = batch_.back() == '\n';
}

void OutputSink::Raw(std::string_view head, std::string_view body) {
  if (broken_ || (head.empty() && body.empty())) return;
  batch_.append(head);
  batch_.append(body);
  at_line_start_ = batch_.back() == '\n';
}

void OutputSink::CloseLine() {
  if (open_ == nullptr) return;
  open_ = nullptr;
  if (!at_line_start_) batch_ += '\n';
  at_line_start_ = true;
}

void OutputSink::OwnLine(std::string_view line) {
  if (broken_) return;
  ForgetWrittenOwnLines();
  if (own_waiting_ + line.size() > kOwnRoom) {
    ++own_dropped_;
    return;
  }
  const std::size_t before = batch_.size();
  open_ = nullptr;
  if (!at_line_start_) batch_ += '\n';
  if (own_dropped_ > 0) {
    batch_ += "hvdrun: " + std::to_string(std::exchange(own_dropped_, 0)) +
              " lines of its own were dropped here: nobody read them\n";
  }
  batch_.append(line);
  batch_ += '\n';
  at_line_start_ = true;
  const std::size_t size = batch_.size() - before;
  own_.push_back({handed_ + batch_.size(), size});
  own_waiting_ += size;
}

void OutputSink::ForgetWrittenOwnLines() {
  const std::uint64_t written = handed_ - writer_.queued();
  while (!own_.empty() && own_.front().end <= written) {
    own_waiting_ -= own_.front().size;
    own_.pop_front();
  }
}

void OutputSink::Forget(Source source) {
  if (open_ == source) open_ = this;
}

void OutputSink::Commit() {
  handed_ += batch_.size();
  writer_.Hand(target_, batch_);
  stalled_ = stalled_ || (!broken_ && writer_.Full());
}

void OutputSink::DropQueued() {
  batch_.clear();
  writer_.DropQueued();
  open_ = nullptr;
  at_line_start_ = true;
  stalled_ = false;
}

bool OutputSink::overfull() const { return queued() >= kFull + kOverfull; }

void OutputSink::OnSpace() {
  // The queue may be full again by the time this runs.
  if (writer_.queued() >= writer_.full() / 2) return;
  stalled_ = false;
  on_change_(nullptr);
}

void OutputSink::OnBroken(const Error& error) {
  broken_ = true;
  stalled_ = false;
  batch_.clear();
  on_change_(&error);
}

}  // namespace hvd
