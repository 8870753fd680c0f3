#include "collectives/handshake_io.h"

#include <utility>

#include "base/fd_passing.h"

namespace hvd {

Status SendWithFds(int socket, std::string_view bytes,
                   std::span<const int> fds) {
  Result<std::size_t> sent = SendStep(socket, bytes, fds);
  if (!sent.ok()) return std::move(sent).error();
  if (sent.value() != bytes.size()) {
    return Error(ErrorCode::kUnavailable, "send: the socket takes no more");
  }
  return Done{};
}

Result<std::size_t> ReceiveWithFds(int socket, std::span<char> out,
                                   std::vector<UniqueFd>& fds) {
  Result<ReceivedStep> step = ReceiveStep(socket, out, fds);
  if (!step.ok()) return std::move(step).error();
  if (step.value().fds_lost) {
    return Error(ErrorCode::kUnavailable,
                 "receive: no room for the descriptors that came (ulimit -n)");
  }
  if (step.value().end) {
    return Error(ErrorCode::kUnavailable, "the other end closed");
  }
  return step.value().bytes;
}

}  // namespace hvd
