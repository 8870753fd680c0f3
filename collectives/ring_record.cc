#include "collectives/ring_record.h"

#include <algorithm>
#include <cstring>

namespace hvd {
namespace {

// Fixed part on the wire; both ends are of one build and byte order.
struct Frame {
  std::uint64_t operations;
  std::int32_t origin;
  std::int32_t rank;
  std::uint32_t text_bytes;
  std::uint8_t kind;
  std::uint8_t code;
  std::uint16_t unused;
};
static_assert(sizeof(Frame) == 24);

constexpr auto kLastKind =
    static_cast<std::uint8_t>(RingRecord::Kind::kPresent);
constexpr auto kLastCode = static_cast<std::uint8_t>(ErrorCode::kInternal);

}  // namespace

std::string EncodeRecord(const RingRecord& record) {
  const std::string_view text =
      std::string_view(record.failure.text).substr(0, kMaxFailureText);
  const Frame frame{record.operations,
                    record.origin,
                    record.failure.rank,
                    static_cast<std::uint32_t>(text.size()),
                    static_cast<std::uint8_t>(record.kind),
                    static_cast<std::uint8_t>(record.failure.code),
                    0};
  std::string bytes(sizeof(frame), '\0');
  std::memcpy(bytes.data(), &frame, sizeof(frame));
  bytes += text;
  return bytes;
}

Result<std::optional<RingRecord>> TakeRecord(std::string& bytes) {
  Frame frame{};
  if (bytes.size() < sizeof(frame)) return std::optional<RingRecord>();
  std::memcpy(&frame, bytes.data(), sizeof(frame));
  if (frame.kind > kLastKind || frame.code > kLastCode || frame.unused != 0 ||
      frame.text_bytes > kMaxFailureText) {
    return Error(ErrorCode::kInvalidArgument, "ring record: unknown form");
  }
  const std::size_t whole = sizeof(frame) + frame.text_bytes;
  if (bytes.size() < whole) return std::optional<RingRecord>();
  RingRecord record{.kind = static_cast<RingRecord::Kind>(frame.kind),
                    .origin = frame.origin,
                    .operations = frame.operations,
                    .failure = {frame.rank, static_cast<ErrorCode>(frame.code),
                                bytes.substr(sizeof(frame), frame.text_bytes)}};
  bytes.erase(0, whole);
  return std::optional(std::move(record));
}

}  // namespace hvd
