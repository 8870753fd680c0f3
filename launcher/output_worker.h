// What OutputMux keeps of a worker and of each of its two streams.
//
// Private to output_mux.cc.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "launcher/output_mux.h"
#include "launcher/read_pacer.h"

namespace hvd {

struct OutputMux::Stream {
  // A longer line goes out in parts, so memory is bounded by this a stream.
  static constexpr std::size_t kMaxHeld = 64U << 10U;

  OutputStream which = OutputStream::kStdout;
  UniqueFd fd;
  std::unique_ptr<FdWatch> watch;
  bool paused = false;
  bool resting = false;
  ReadPacer pacer;
  std::string tag;
  LineSplitter splitter{kMaxHeld};
  Instant held_since{};
  std::shared_ptr<OutputTarget> file;  // shared by the lives of a rank
  std::size_t dropped = 0;
};

struct OutputMux::Worker {
  int rank = 0;
  std::array<Stream, 2> streams;
  StderrTail last_stderr;
  bool ended = false;
};

}  // namespace hvd
