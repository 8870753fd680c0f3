// OutputTag: what stands before a worker's line.
//
// Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rendezvous/world.h"

namespace hvd {

// "[3]<stdout>:", and "[3.e5]<stdout>:" from epoch 2 on: a rank may by then
// belong to another worker than before.
std::string OutputTag(int rank, Epoch epoch, std::string_view stream);

// "2026-11-30T10:44:19.123+0100", local time; as text it sorts like the time
// while the offset stays the same.
std::string OutputTimestamp(std::chrono::system_clock::time_point when);

}  // namespace hvd
