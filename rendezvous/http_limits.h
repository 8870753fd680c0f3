// HttpLimits: how long a peer may take for each part of an HTTP conversation.
#pragma once

#include "base/clock.h"

namespace hvd {

struct HttpLimits {
  Duration head{5'000};    // from its first byte; before the first, from accept
  Duration body{10'000};   // plus a second per MiB
  Duration write{10'000};  // of an answer not read; plus a second per MiB
  Duration idle{60'000};   // between requests
};

}  // namespace hvd
