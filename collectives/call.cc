#include "collectives/call.h"

namespace hvd {
namespace {

// `call` may have come from another process: any value is answered.
std::string CallName(Call call) {
  switch (call) {
    case Call::kAllReduce:
      return "allreduce";
    case Call::kBroadcast:
      return "broadcast";
    case Call::kAllGather:
      return "allgather";
    case Call::kBarrier:
      return "barrier";
  }
  return "unknown-call";
}

}  // namespace

std::string Describe(const CallHeader& call) {
  std::string text = CallName(call.call);
  if (call.call == Call::kBarrier) return text;
  text += ' ';
  text += Name(call.type);
  if (call.call == Call::kAllReduce) {
    text += ' ';
    text += Name(call.op);
  }
  text += " count=" + std::to_string(call.count);
  if (call.call == Call::kBroadcast) {
    text += " root=" + std::to_string(call.root);
  }
  return text;
}

std::string DescribeMismatch(int left, const CallHeader& left_call, int right,
                             const CallHeader& right_call) {
  std::string text = "ranks disagree: rank " + std::to_string(left) +
                     " called " + Describe(left_call);
  if (left_call.operation != right_call.operation) {
    text += " as operation " + std::to_string(left_call.operation);
  }
  return text + ", rank " + std::to_string(right) + " called " +
         Describe(right_call) + " as operation " +
         std::to_string(right_call.operation);
}

}  // namespace hvd
