#include "collectives/life_mark.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace hvd {

LifeMark::LifeMark(std::atomic<std::uint32_t>& word) : word_(word) {
  if (::syscall(SYS_get_robust_list, 0, &before_, &before_size_) != 0) return;
  // A circle of one entry; the kernel finds the word at an offset from it.
  list_.list.next = &entry_;
  entry_.next = &list_.list;
  list_.futex_offset =
      reinterpret_cast<char*>(&word_) - reinterpret_cast<char*>(&entry_);
  if (::syscall(SYS_set_robust_list, &list_, sizeof(list_)) != 0) return;
  word_.store(static_cast<std::uint32_t>(::syscall(SYS_gettid)),
              std::memory_order_release);
}

LifeMark::~LifeMark() {
  word_.store(0, std::memory_order_release);
  (void)::syscall(SYS_set_robust_list, before_, before_size_);
}

}  // namespace hvd
