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
  kGivenUp,    // it did not read in time; the other stream's may still
};

// Until everything queued is written; false if that was not in time. One who
// is waited for and does not read is named after 5 s, and no longer waited for
// when `interrupted()` holds; one who is in the way has 2 s, unless interrupted
// before; one who was given up has half a second in any case, for our own last
// lines. What is not read then is dropped.
bool FlushOutput(EventLoop& loop, OutputMux& output, Reader reader,
                 const std::function<bool()>& interrupted);

}  // namespace hvd
