// AbstractAddress: an AF_UNIX address without a file, gone with its last
// socket.
#pragma once

#include <string>

#include "base/socket_address.h"

namespace hvd {

// `name`: 100 bytes at most.
SocketAddress AbstractAddress(const std::string& name);

}  // namespace hvd
