// SendChannel, ReceiveChannel: the two ends of one direction of bytes between
// ring neighbours, over shared memory or TCP.
//
// Nothing here blocks. A thread that can go no further arms the channels it
// needs, sleeps in poll() on what they name and on its doorbell, and disarms
// them. An Error means that the other end is gone; who died, and the words for
// it, are RingWatch's business.
//
// Both ends agree on the length of every piece beforehand, and pieces are
// padded to kUnit bytes, so that elements never straddle a border and stay
// aligned.
//
// One thread at a time.
#pragma once

#include <poll.h>

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"

namespace hvd {

// Pieces start and end at multiples of this: the largest element.
inline constexpr std::size_t kUnit = 8;
inline constexpr std::size_t Padded(std::size_t bytes) {
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

class SendChannel {
 public:
  virtual ~SendChannel() = default;
  // How many bytes it took; 0 if it is full.
  virtual Result<std::size_t> TrySend(std::span<const std::byte> bytes) = 0;
  // What to poll for room (fd -1: the doorbell rings); nullopt: there is room.
  virtual std::optional<pollfd> Arm() = 0;
  virtual void Disarm() = 0;
};

class ReceiveChannel {
 public:
  virtual ~ReceiveChannel() = default;
  // How many bytes it put into `out`; 0 if nothing has come in.
  virtual Result<std::size_t> TryReceive(std::span<std::byte> out) = 0;
  // What has come in, at most `limit` bytes, where it lies; aligned as the
  // bytes consumed since the last multiple of kUnit. Valid until the next call.
  virtual Result<std::span<const std::byte>> Peek(std::size_t limit) = 0;
  // The first `count` bytes of the last Peek are done with.
  virtual void Consume(std::size_t count) = 0;
  // As SendChannel's, for bytes to come in.
  virtual std::optional<pollfd> Arm() = 0;
  virtual void Disarm() = 0;
};

}  // namespace hvd
