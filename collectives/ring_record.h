// RingRecord: what ranks tell their neighbours besides arrays: that something
// failed, or that they leave.
//
// Pure: the bytes on a control connection, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collectives/communicator.h"

namespace hvd {

struct RingRecord {
  enum class Kind : std::uint8_t {
    kProposal,  // `origin` has seen `failure`; goes round once
    kVerdict,   // `failure` is why this world is dead; to everybody
    kGoodbye,   // `origin` has left after `operations` of them
    kInquiry,   // `origin` waits in vain and asks who is there
    kPresent,   // `origin` is there, has entered `operations` of them, and
                // answers the inquiry of `failure.rank`
  };
  Kind kind = Kind::kVerdict;
  int origin = 0;
  std::uint64_t operations = 0;
  CommFailure failure;
};

// A failure's text is cut to this on the wire.
inline constexpr std::size_t kMaxFailureText = 1000;

std::string EncodeRecord(const RingRecord& record);

// Takes the first record off the front of `bytes`. nullopt: not all of it is
// there yet. kInvalidArgument: it never will be a record.
Result<std::optional<RingRecord>> TakeRecord(std::string& bytes);

}  // namespace hvd
