// The descriptors 0, 1 and 2 that hvdrun was started with.
#pragma once

#include <string_view>

namespace hvd {

// Opens /dev/null for each of 0, 1 and 2 that is closed, so that no file of
// ours gets such a number. Call before anything is opened.
void OpenClosedStreams();

// For what is said before or after a job: writes all of `text` or gives up.
// During a job the output mux is the only one to write.
void WriteStdout(std::string_view text);
void WriteStderr(std::string_view text);

}  // namespace hvd
