// OutputSink: one place that output goes to, hvdrun's stdout or stderr, and
// where on its line it stands.
//
// Several workers print to it; it keeps their lines apart. A line that was
// shown unfinished is closed with a newline before anyone else prints.
//
// Loop thread only.
#pragma once

#include <cstddef>
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

  // `fd` is borrowed.
  OutputSink(EventLoop& loop, int fd, const std::string& name,
             OutputWriter::Handlers handlers);

  // A piece of a line of `source`, with `tag` in front where its line starts.
  void Piece(Source source, std::string_view tag, std::string_view head,
             std::string_view body, PieceEnd end);
  // Bytes as they are.
  void Raw(std::string_view head, std::string_view body);
  // Whole lines of hvdrun's own; dropped (and counted) only if `kOwnRoom` bytes
  // of them wait already.
  void OwnLine(std::string_view line);
  // `source` won't finish its line.
  void Forget(Source source);
  // Hands what was printed since the last call to the writer.
  void Commit();
  void DropQueued();

  bool Full() const { return writer_.Full(); }
  // Beyond what even the output of ended workers may queue.
  bool Overfull() const;
  std::size_t queued() const { return writer_.queued() + batch_.size(); }
  bool broken() const { return broken_; }
  void MarkBroken();

 private:
  void CloseLine();

  OutputWriter writer_;
  std::shared_ptr<OutputTarget> target_;
  std::string batch_;
  Source open_ = nullptr;     // whose unfinished line the last byte belongs to
  bool at_line_start_ = true;  // what was last written ended a line
  bool broken_ = false;
  std::size_t dropped_lines_ = 0;
};

}  // namespace hvd
