// StartQuietThread: a thread of ours inside a user's process: named, and with
// all signals blocked, so that the user's handlers run on the user's threads.
#pragma once

#include <functional>
#include <thread>

namespace hvd {

// `name`: 15 bytes at most, as ps and gdb show it.
std::thread StartQuietThread(const char* name, std::function<void()> body);

}  // namespace hvd
