// LinkAnswerer: the end of a link that is measured: answers pings, counts load.
//
// Gets connections from the probe listener, whose port it shares, once their
// hello was signed. Nothing but a frame with the conversation's own signature
// is acted upon; connections, bytes and time are bounded.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/unique_fd.h"

namespace hvd {

class LinkAnswerer {
 public:
  static constexpr std::size_t kMaxConnections = 8;
  static constexpr std::uint64_t kMaxPings = 100;
  static constexpr std::uint64_t kMaxLoadBytes = std::uint64_t{64} << 20;
  static constexpr Duration kMaxLoadTime{500};
  static constexpr Duration kPatience{8'000};  // with one connection

  // `key`: of the job's probes; `identity`: of this machine.
  static std::unique_ptr<LinkAnswerer> Make(EventLoop& loop, std::string key,
                                            std::string identity);
  virtual ~LinkAnswerer() = default;
  // `fd`: non-blocking. `nonce`: of the hello that came from there.
  virtual void Take(UniqueFd fd, const std::string& nonce) = 0;
};

}  // namespace hvd
