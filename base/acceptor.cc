#include "base/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace hvd {
namespace {

constexpr Duration kRest{100};

}  // namespace

Acceptor::Acceptor(EventLoop& loop, UniqueFd listening,
                   std::function<void(UniqueFd)> take)
    : loop_(loop),
      listening_(std::move(listening)),
      take_(std::move(take)),
      readable_(loop.OnReadable(listening_.get(), [this] { Accept(); })) {}

void Acceptor::Accept() {
  for (;;) {
    UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr,
                          SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid()) {
      take_(std::move(fd));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
               errno == ENOMEM) {
      return Rest();
    }
    // Else that one connection failed before it was accepted: accept(2).
  }
}

void Acceptor::Rest() {
  readable_->Pause();
  rest_ = loop_.After(kRest, [this] {
    rest_.reset();
    readable_->Resume();
  });
}

}  // namespace hvd
