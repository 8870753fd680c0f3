// WorkerBytes: a piece of what a worker wrote, or of what it is to read.
//
// Plain data. What moves it: byte_source.h and byte_sink.h at both ends of an
// agent's connection.
#pragma once

#include <string>

#include "rendezvous/world.h"

namespace hvd {

// One of a worker's descriptors 0, 1 and 2.
struct WorkerStream {
  LaunchId id{};
  int fd = 0;

  // clang-tidy 14 takes the defaulted operator for a comparison with 0.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const WorkerStream&) const = default;
};

struct WorkerBytes {
  WorkerStream stream;
  std::string bytes;
  bool end = false;  // none come after these
  bool operator==(const WorkerBytes&) const = default;
};

}  // namespace hvd
