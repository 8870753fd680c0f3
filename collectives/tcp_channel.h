// TCP channel: one direction of a connected stream socket.
//
// It neither connects nor accepts: see ring_connect.h and ring_listener.h.
#pragma once

#include <memory>

#include "base/unique_fd.h"
#include "collectives/channel.h"

namespace hvd {

// `socket` is connected and belongs to the channel alone.
std::unique_ptr<SendChannel> MakeTcpSender(UniqueFd socket);
std::unique_ptr<ReceiveChannel> MakeTcpReceiver(UniqueFd socket);

}  // namespace hvd
