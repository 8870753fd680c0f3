// SharedHeap: memory for arrays that the other ranks of the host can reach, so
// that a collective need not copy them first.
//
// One sealed memfd a process, as large as the machine's memory, of which only
// what is in use is taken; the others map all of it once, so that handing out a
// piece is this process's business alone. It outlives every world.
//
// Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "collectives/sealed_memory.h"

namespace hvd {

class SharedHeap {
 public:
  // kUnavailable: the machine does not give so much address space.
  static Result<std::unique_ptr<SharedHeap>> Create(std::size_t bytes);
  // As much as the machine has memory.
  static std::size_t DefaultSize();

  int fd() const { return fd_.get(); }
  std::span<std::byte> memory() const {
    return {memory_.data(), memory_.size()};
  }
  // `bytes`, all zero, at the beginning of a page; null if there is no such
  // piece left.
  void* Allocate(std::size_t bytes);
  // What Allocate returned; gives the memory back to the machine. False: it is
  // none of that.
  bool Free(void* at);

 private:
  SharedHeap(UniqueFd fd, SealedMemory memory);

  const UniqueFd fd_;
  const SealedMemory memory_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  // guarded by mutex_: at, bytes
  std::map<std::size_t, std::size_t> used_;  // guarded by mutex_
};

// Where the heaps of a host's ranks are in this process.
struct HeapMap {
  std::vector<std::span<std::byte>> heaps;  // by local rank; of all, or none
  std::vector<SealedMemory> mapped;         // owns those of the others
};

}  // namespace hvd
