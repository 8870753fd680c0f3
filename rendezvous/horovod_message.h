// What hvdrun and the notification service in a Horovod worker say to each
// other: where the service listens, and that the world is about to change.
//
// Both are pickles on the wire. The one that comes in is read by a small
// machine for the few opcodes that its value is made of, which can build
// strings, numbers, lists and pairs and nothing else; all others are refused.
// The one that goes out is a constant with a number in it. Pure.
//
// Source of the forms: Horovod 0.28.1 (runner/elastic/worker.py,
// runner/common/util/network.py), as sent by Python 3.6 to 3.13.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {

inline constexpr std::size_t kMaxWorkerAddresses = 16384;  // bytes

// A worker's notification service.
struct HorovodListener {
  struct Address {
    std::string ip;  // as the worker says it, unchecked
    std::uint16_t port = 0;
    bool operator==(const Address&) const = default;
  };
  std::vector<Address> addresses;  // in the worker's order
  std::string key;                 // raw bytes; signs what is said to it
};

// The body of PUT /worker_addresses/<host>:<local rank>; nullopt for any other.
std::optional<HorovodListener> ParseWorkerAddresses(std::string_view body);

// "The hosts have changed", to be sent to a listener with this key. It counts
// if `timestamp` is greater than the last one that the worker acted on. It
// always says that hosts may have come: after one that says that hosts have
// only gone, survivors skip the sync that a newcomer of the same world waits
// in.
std::string HostsUpdatedFrame(std::string_view key, std::int32_t timestamp);

// The bytes of a whole answer, or of as much of it as has come.
enum class AnswerState { kIncomplete, kAcknowledged, kWrong };
AnswerState JudgeAnswer(std::string_view key, std::string_view bytes);

}  // namespace hvd
