// CallHeader: what a rank says it is calling, sent ahead of every operation's
// bytes, so that ranks that disagree learn it before any array is touched.
//
// Pure. Both ends are of one build and byte order: the handshake saw to that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collectives/data_type.h"
#include "hvd/call.h"

namespace hvd {

inline constexpr int kCalls = 6;

struct CallHeader {
  std::uint64_t operation = 0;  // counts the calls of this world, from 1
  std::uint64_t count = 0;      // elements
  std::uint64_t shape = 0;      // of parts that are not alike: ShapeOf them
  std::int32_t root = 0;
  std::uint32_t table = 0;  // HashOf the thresholds
  Call call = Call::kBarrier;
  DataType type = DataType::kInt32;
  ReduceOp op = ReduceOp::kSum;
  std::uint8_t unused = 0;
  std::uint32_t unused_too = 0;
  bool operator==(const CallHeader&) const = default;
};
static_assert(sizeof(CallHeader) == 40);

// Tells uneven counts from others.
std::uint64_t ShapeOf(std::span<const std::size_t> counts);

std::string Name(Call call);  // "allreduce"
// "allreduce f32 sum count=100", "broadcast f64 count=3 root=0", "barrier".
std::string Describe(const CallHeader& call);
// "rank 1 called …, rank 2 called … as operation 7".
std::string DescribeMismatch(int left, const CallHeader& left_call, int right,
                             const CallHeader& right_call);

}  // namespace hvd
