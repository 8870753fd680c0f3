// HostsDoor: PUT /v1/hosts, where a script says which hosts there are now.
//
// Who pushes is no worker and does not have the job's key. It shows a token,
// which opens this door and no other, in the header field that curl can take
// from a file. A token crosses the wire as it is, so only this host's loopback
// is served. What a list of hosts looks like is the handler's business.
//
// Loop thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/http_connection.h"

namespace hvd {

inline constexpr std::string_view kHostsTarget = "/v1/hosts";

class HostsDoor {
 public:
  // An error's message, one line, is the pusher's answer: 400 for
  // kInvalidArgument, else 503.
  using PushHandler = std::function<Status(const std::string& text)>;

  // `token`: printable ASCII, not empty.
  HostsDoor(std::string token, std::size_t max_body, PushHandler on_push);

  std::unique_ptr<HttpConversation> Open(HttpConnection& connection);

 private:
  class Conversation;

  const std::string token_;
  const std::size_t max_body_;
  const PushHandler on_push_;
};

}  // namespace hvd
