// OutputSink: one place that output goes to, hvdrun's stdout or stderr, and
// where on its line it stands.
//
// Several workers print to it; it keeps their lines apart: a line that was
// shown unfinished is closed with a newline before anyone else prints.
//
// Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/line_splitter.h"
#include "launcher/output_writer.h"

namespace hvd {

class OutputSink {
 public:
  // Who prints; compared, never looked into.
  using Source = const void*;

  // `fd` is borrowed. `on_change` runs when stalled() ends, when the sink
  // breaks (then with the reason), and as NotifyWhenEmpty asks.
  OutputSink(EventLoop& loop, int fd, std::string name,
             std::function<void(const Error* broken)> on_change);

  // A piece of a line of `source`, with `tag` in front where its line starts.
  void Piece(Source source, std::string_view tag, std::string_view head,
             std::string_view body, PieceEnd end);
  // Bytes as they are.
  void Raw(std::string_view head, std::string_view body);
  // A whole line; room is kept for these behind any amount of other output.
  // Dropped, and counted where the next one stands, only if 256 KiB of them
  // wait already.
  void OwnLine(std::string_view line);
  // `source` will print no more; its unfinished line stays open until someone
  // else prints.
  void Forget(Source source);
  // Hands what was printed since the last call to the writer.
  void Commit();
  void DropQueued();
  void NotifyWhenEmpty() { writer_.NotifyWhenEmpty(); }

  // Since the queue was full, until it is half empty.
  bool stalled() const { return stalled_; }
  // Beyond what even the output of ended workers may queue.
  bool overfull() const;
  std::size_t queued() const { return writer_.queued() + batch_.size(); }
  bool broken() const { return broken_; }

 private:
  struct Own {
    std::uint64_t end = 0;  // position of its last byte in all that was printed
    std::size_t size = 0;
  };

  void CloseLine();
  void OnSpace();
  void OnBroken(const Error& error);
  void ForgetWrittenOwnLines();

  std::function<void(const Error* broken)> on_change_;
  OutputWriter writer_;
  std::shared_ptr<OutputTarget> target_;
  std::string batch_;
  // Whose unfinished line the last byte belongs to; `this`: of one who is gone.
  Source open_ = nullptr;
  bool at_line_start_ = true;
  bool stalled_ = false;
  bool broken_ = false;
  std::uint64_t handed_ = 0;
  std::deque<Own> own_;
  std::size_t own_waiting_ = 0;
  std::size_t own_dropped_ = 0;
};

}  // namespace hvd
