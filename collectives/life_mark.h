// LifeMark: how the ranks of a host see at once that one of them has died.
//
// A word in the memory they share holds the id of one thread of its rank while
// that lives. If the thread dies without having taken it back, the kernel marks
// the word: each thread has a list of such words (robust futexes,
// set_robust_list(2)), which the kernel goes through before it takes back the
// process's memory. Only after that do its sockets hang up and its pidfd become
// readable: 90 ms later for each GiB in small pages, on the machine where this
// was measured. Where the kernel has no such lists, no word is ever marked.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hvd {

class LifeMark {
 public:
  // The calling thread holds `word` from now on. It destroys this itself, and
  // uses no robust mutexes meanwhile: it has one list only.
  explicit LifeMark(std::atomic<std::uint32_t>& word);
  ~LifeMark();
  LifeMark(const LifeMark&) = delete;
  LifeMark& operator=(const LifeMark&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
  robust_list_head list_{};
  robust_list entry_{};
  robust_list_head* before_ = nullptr;  // the C library's
  std::size_t before_size_ = 0;
};

// Whether a thread that held `word` has died with it.
inline bool HolderDied(const std::atomic<std::uint32_t>& word) {
  return (word.load(std::memory_order_acquire) & FUTEX_OWNER_DIED) != 0;
}

}  // namespace hvd
