#include "collectives/call.h"

namespace hvd {
namespace {

std::string InHex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) {
    text += kDigits[(value >> static_cast<unsigned>(shift)) & 0xfU];
  }
  return text;
}

bool Reduces(Call call) {
  return call == Call::kAllReduce || call == Call::kReduceScatter;
}

}  // namespace

std::uint64_t ShapeOf(std::span<const std::size_t> counts) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::size_t count : counts) {
    hash = (hash ^ count) * 0x100000001b3ULL;
    hash ^= hash >> 29U;
  }
  return hash | 1U;
}

// `call` may have come from another process: any value is answered.
std::string Name(Call call) {
  switch (call) {
    case Call::kAllReduce:
      return "allreduce";
    case Call::kBroadcast:
      return "broadcast";
    case Call::kAllGather:
      return "allgather";
    case Call::kBarrier:
      return "barrier";
    case Call::kReduceScatter:
      return "reduce-scatter";
    case Call::kAllToAll:
      return "alltoall";
  }
  return "unknown-call";
}

std::string Describe(const CallHeader& call) {
  std::string text = Name(call.call);
  if (call.call == Call::kBarrier) return text;
  text += ' ';
  text += Name(call.type);
  if (Reduces(call.call)) {
    text += ' ';
    text += Name(call.op);
  }
  if (call.call == Call::kAllToAll) return text;  // every rank has its counts
  text += " count=" + std::to_string(call.count);
  if (call.shape != 0) text += " uneven=" + InHex(call.shape);
  if (call.call == Call::kBroadcast) {
    text += " root=" + std::to_string(call.root);
  }
  return text;
}

std::string DescribeMismatch(int left, const CallHeader& left_call, int right,
                             const CallHeader& right_call) {
  const auto table = [&](const CallHeader& call) {
    if (left_call.table == right_call.table) return std::string();
    return " with thresholds " + InHex(call.table);
  };
  std::string text = "ranks disagree: rank " + std::to_string(left) +
                     " called " + Describe(left_call) + table(left_call);
  if (left_call.operation != right_call.operation) {
    text += " as operation " + std::to_string(left_call.operation);
  }
  return text + ", rank " + std::to_string(right) + " called " +
         Describe(right_call) + table(right_call) + " as operation " +
         std::to_string(right_call.operation);
}

}  // namespace hvd
