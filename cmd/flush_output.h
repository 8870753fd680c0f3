// FlushOutput: waits for the readers of hvdrun's output, but not for ever.
#pragma once

#include <functional>

#include "base/clock.h"
#include "base/event_loop.h"
#include "launcher/output_mux.h"

namespace hvd {

enum class Reader {
  kWaitedFor,  // it may read late, as the reader of any program
  kInTheWay,   // the user wants us gone
};

// Until everything queued is written. One who is waited for and does not read
// is named after 5 s, and no longer waited for when `interrupted()` holds; one
// who is in the way has 2 s. What is not read then is dropped.
void FlushOutput(EventLoop& loop, OutputMux& output, Reader reader,
                 const std::function<bool()>& interrupted);

}  // namespace hvd
