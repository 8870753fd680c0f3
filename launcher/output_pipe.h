// OutputPipe: the pipe between a worker's stdout (or stderr) and OutputMux.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

struct OutputPipe {
  UniqueFd read_end;   // non-blocking: for OutputMux
  UniqueFd write_end;  // blocking: for the worker
};

// Larger than the default 64 KiB where the kernel allows it, so that a worker
// that writes much is not woken for each page.
Result<OutputPipe> MakeOutputPipe();

// What was written and not yet read; 0 for a closed one.
std::size_t BytesWaiting(int read_fd);

}  // namespace hvd
