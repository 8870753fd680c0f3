#include "collectives/shared_heap.h"

#include <fcntl.h>
#include <unistd.h>

#include <iterator>
#include <utility>

#include "base/check.h"

namespace hvd {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t Rounded(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

std::size_t SharedHeap::DefaultSize() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 30U;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

Result<std::unique_ptr<SharedHeap>> SharedHeap::Create(std::size_t bytes) {
  bytes = Rounded(bytes);
  Result<UniqueFd> fd = CreateSealed("hvd-heap", bytes);
  if (!fd.ok()) return std::move(fd).error();
  Result<SealedMemory> memory = SealedMemory::Map(fd.value(), bytes);
  if (!memory.ok()) return std::move(memory).error();
  return std::unique_ptr<SharedHeap>(
      new SharedHeap(std::move(fd).value(), std::move(memory).value()));
}

SharedHeap::SharedHeap(UniqueFd fd, SealedMemory memory)
    : fd_(std::move(fd)), memory_(std::move(memory)) {
  free_.emplace(0, memory_.size());
}

void* SharedHeap::Allocate(std::size_t bytes) {
  if (bytes > memory_.size()) return nullptr;
  const std::size_t wanted = Rounded(bytes == 0 ? 1 : bytes);
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [at, size] = *it;
    if (size < wanted) continue;
    free_.erase(it);
    if (size > wanted) free_.emplace(at + wanted, size - wanted);
    used_.emplace(at, wanted);
    return memory_.data() + at;
  }
  return nullptr;
}

bool SharedHeap::Free(void* at) {
  if (!memory_.Contains(at, 1)) return false;
  const auto offset =
      static_cast<std::size_t>(static_cast<std::byte*>(at) - memory_.data());
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(offset);
  if (found == used_.end()) return false;
  const std::size_t bytes = found->second;
  used_.erase(found);
  // Read as zeroes from now on, here and by the other ranks.
  HVD_CHECK(::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(offset),
                        static_cast<off_t>(bytes)) == 0);
  auto piece = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(piece);
      next != free_.end() && piece->first + piece->second == next->first) {
    piece->second += next->second;
    free_.erase(next);
  }
  if (piece != free_.begin()) {
    const auto before = std::prev(piece);
    if (before->first + before->second == piece->first) {
      before->second += piece->second;
      free_.erase(piece);
    }
  }
  return true;
}

}  // namespace hvd
