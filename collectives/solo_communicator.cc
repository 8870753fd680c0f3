#include "collectives/solo_communicator.h"

#include <cstring>
#include <utility>

namespace hvd {

Status SoloCommunicator::Enter() {
  ++entered_;
  const CommFailure* failure = failure_.load();
  if (failure != nullptr) return Error(failure->code, failure->text);
  return Done{};
}

Status SoloCommunicator::Copy(const void* in, void* out, std::size_t count,
                              DataType type) {
  if (Status alive = Enter(); !alive.ok()) return alive;
  if (in != out && count > 0) std::memcpy(out, in, count * SizeOf(type));
  return Done{};
}

Status SoloCommunicator::AllReduce(const void* in, void* out, std::size_t count,
                                   DataType type, ReduceOp /*op*/) {
  return Copy(in, out, count, type);
}

Status SoloCommunicator::Broadcast(void* /*data*/, std::size_t /*count*/,
                                   DataType /*type*/, int root) {
  if (root != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "broadcast: root must be 0 in a world of one, got " +
                     std::to_string(root));
  }
  return Enter();
}

Status SoloCommunicator::AllGather(const void* in, void* out, std::size_t count,
                                   DataType type) {
  return Copy(in, out, count, type);
}

Status SoloCommunicator::Barrier() { return Enter(); }

void SoloCommunicator::Abort(CommFailure failure) {
  const std::lock_guard lock(mutex_);
  if (first_) return;
  first_ = std::move(failure);
  failure_.store(&*first_);
}

}  // namespace hvd
