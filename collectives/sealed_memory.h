// SealedMemory: memory without a name that processes of one host share, of a
// size that nobody can change any more.
//
// The seals are what makes it safe to touch memory another process gave: it
// cannot be cut off under the reader's feet. Nothing is left behind whoever
// dies.
#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// New memory of `bytes`, all zero, of which only what is touched is taken.
// `name` is what /proc shows.
Result<UniqueFd> CreateSealed(const char* name, std::size_t bytes);
// How much there is. kInvalidArgument: `memory` is no sealed memfd.
Result<std::size_t> SealedSize(const UniqueFd& memory);

class SealedMemory {
 public:
  // Maps all of it. kInvalidArgument: not sealed, or not of `bytes`.
  static Result<SealedMemory> Map(const UniqueFd& memory, std::size_t bytes);
  SealedMemory() = default;
  SealedMemory(SealedMemory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  SealedMemory& operator=(SealedMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SealedMemory();

  std::byte* data() const { return static_cast<std::byte*>(address_); }
  std::size_t size() const { return bytes_; }
  // Whether all of [at, at + bytes) lies within.
  bool Contains(const void* at, std::size_t bytes) const;

 private:
  SealedMemory(void* address, std::size_t bytes)
      : address_(address), bytes_(bytes) {}

  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hvd
