#include "launcher/end_order.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/process.h"
#include "base/result.h"

namespace hvd {

EndOrder::EndOrder() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void EndOrder::Watch(pid_t pid) {
  Result<UniqueFd> pidfd = OpenPidfd(pid);
  if (!pidfd.ok()) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<std::uint64_t>(pid);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.value().get(), &event) ==
      0) {
    watched_[pid] = std::move(pidfd).value();
  }
}

std::size_t EndOrder::PlaceOf(pid_t pid) {
  Look();
  const auto found = std::find(ended_.begin(), ended_.end(), pid);
  return static_cast<std::size_t>(found - ended_.begin());
}

void EndOrder::Forget(pid_t pid) {
  watched_.erase(pid);
  std::erase(ended_, pid);
}

// Who is listed is watched no longer, so each is listed once.
void EndOrder::Look() {
  std::array<epoll_event, 64> ready{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), ready.data(),
                                   static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
      const epoll_event event = ready.at(static_cast<std::size_t>(i));
      const auto pid = static_cast<pid_t>(event.data.u64);
      ended_.push_back(pid);
      watched_.erase(pid);
    }
    if (count < static_cast<int>(ready.size())) return;
  }
}

}  // namespace hvd
