// Shared-memory channel: a ring of bytes in a sealed memfd, one writer and one
// reader, each in its own process.
//
// The memory has no name: nothing is left behind whoever dies. Each side sleeps
// on its own doorbell, which the other rings only when it is asked to.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "collectives/channel.h"
#include "collectives/doorbell.h"

namespace hvd {

// Half of a usual second-level cache: what one side writes the other still
// finds there. A multiple of kUnit and a power of two.
inline constexpr std::size_t kShmRingBytes = std::size_t{256} << 10U;

// New memory for one direction; the descriptor goes to the other process.
Result<UniqueFd> CreateShmRing();

// `peer` is the doorbell of the process at the other end. kInvalidArgument: the
// descriptor is no sealed ring of the right size.
Result<std::unique_ptr<SendChannel>> OpenShmSender(const UniqueFd& memory,
                                                   Doorbell peer);
Result<std::unique_ptr<ReceiveChannel>> OpenShmReceiver(const UniqueFd& memory,
                                                        Doorbell peer);

}  // namespace hvd
