// The yardstick of the store benchmark: the least an HTTP server could do. An
// epoll loop that reads whatever has arrived and answers it with fixed bytes.
#pragma once

#include <string>

namespace hvd::bench {

// Serves `listener` until the process is killed: each chunk that arrives is
// taken for one request.
[[noreturn]] void ServeEcho(int listener, const std::string& answer);

}  // namespace hvd::bench
