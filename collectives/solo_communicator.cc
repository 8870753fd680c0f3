#include "collectives/solo_communicator.h"

#include <utility>

#include "collectives/copy_bytes.h"

namespace hvd {

Status SoloCommunicator::Enter() {
  ++entered_;
  const CommFailure* failure = failure_.load();
  if (failure != nullptr) return Error(failure->code, failure->text);
  return Done{};
}

Status SoloCommunicator::Do(Call call, const void* in, void* out,
                            std::size_t bytes) {
  ledger_.Begin(call, bytes);
  if (Status alive = Enter(); !alive.ok()) return alive;
  if (in != out && bytes > 0) CopyBytes(out, in, bytes);
  ledger_.End();
  return Done{};
}

Status SoloCommunicator::AllReduce(const void* in, void* out, std::size_t count,
                                   DataType type, ReduceOp /*op*/) {
  return Do(Call::kAllReduce, in, out, count * SizeOf(type));
}

Status SoloCommunicator::ReduceScatter(const void* in, void* out,
                                       std::size_t count, DataType type,
                                       ReduceOp /*op*/) {
  return Do(Call::kReduceScatter, in, out, count * SizeOf(type));
}

Status SoloCommunicator::Broadcast(void* data, std::size_t count, DataType type,
                                   int root) {
  if (root != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "broadcast: root must be 0 in a world of one, got " +
                     std::to_string(root));
  }
  return Do(Call::kBroadcast, data, data, count * SizeOf(type));
}

Status SoloCommunicator::AllGather(const void* in, void* out,
                                   const Shares& shares, DataType type) {
  return Do(Call::kAllGather, in, out, shares.Total() * SizeOf(type));
}

Status SoloCommunicator::AllToAll(const void* in, const Shares& sent, void* out,
                                  const Shares& received, DataType type) {
  if (sent.Total() != received.Total()) {
    return Error(ErrorCode::kInvalidArgument,
                 "alltoall: this rank sends " + std::to_string(sent.Total()) +
                     " elements to itself and expects " +
                     std::to_string(received.Total()));
  }
  return Do(Call::kAllToAll, in, out, sent.Total() * SizeOf(type));
}

Status SoloCommunicator::Barrier() {
  return Do(Call::kBarrier, nullptr, nullptr, 0);
}

void SoloCommunicator::Abort(CommFailure failure) {
  const std::lock_guard lock(mutex_);
  if (first_) return;
  first_ = std::move(failure);
  failure_.store(&*first_);
}

}  // namespace hvd
