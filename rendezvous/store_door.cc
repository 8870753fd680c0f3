#include "rendezvous/store_door.h"

#include <unistd.h>

#include <string>

#include "base/socket_address.h"

namespace hvd {
namespace {

std::optional<HttpRefusal> RefusePeer(PeerOwner& owners,
                                      const HttpConnection& connection) {
  if (!IsLoopback(connection.peer())) {
    return HttpRefusal{403, "unsigned from another host",
                       "authentication: unsigned requests are served to "
                       "this host only"};
  }
  const Result<uid_t> owner =
      owners.Find(connection.local(), connection.peer());
  if (!owner.ok()) {
    return HttpRefusal{403, "unsigned from nobody",
                       "authentication: " + owner.error().message()};
  }
  if (owner.value() != ::geteuid()) {
    return HttpRefusal{403, "unsigned from another user",
                       "authentication: unsigned requests are served to "
                       "this job's user only, not to uid " +
                           std::to_string(owner.value())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<StorePath> ParseStorePath(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const StorePath path{target.substr(0, slash), target.substr(slash + 1)};
  if (path.scope.empty() || path.key.empty()) return std::nullopt;
  if (path.key.find('/') != std::string_view::npos) return std::nullopt;
  return path;
}

class StoreDoor::Conversation : public HttpConversation {
 public:
  Conversation(StoreDoor& door, HttpConnection& connection)
      : store_(door.store_), owners_(door.owners_), connection_(connection) {}

  std::optional<HttpRefusal> OnHead(const RequestHead& head) override {
    if (!peer_is_proved_) {
      if (auto refusal = RefusePeer(owners_, connection_)) return refusal;
      peer_is_proved_ = true;
    }
    const std::uint64_t length = head.content_length.value_or(0);
    if (head.method == HttpMethod::kPut && !head.content_length) {
      return HttpRefusal{411, "no length", "PUT needs a Content-Length"};
    }
    if (head.chunked) {
      return HttpRefusal{411, "no length", "chunked bodies are not read"};
    }
    if (length > kMaxValueBytes) {
      return HttpRefusal{
          413, "large value",
          "value of " + std::to_string(length) + " bytes is over 16 MiB"};
    }
    return std::nullopt;
  }

  void OnRequest(const RequestHead& head, std::string_view body) override {
    const std::optional<StorePath> path = ParseStorePath(head.target);
    if (!path) return connection_.Answer({.status = 400});
    switch (head.method) {
      case HttpMethod::kGet: {
        const std::string* value = store_.Get(path->scope, path->key);
        if (value == nullptr) return connection_.Answer({.status = 404});
        return connection_.Answer({.body = *value});
      }
      case HttpMethod::kPut: {
        const bool stored = store_.Put(path->scope, path->key, body);
        return connection_.Answer({.status = stored ? 200 : 507});
      }
      case HttpMethod::kDelete:
        store_.Delete(path->scope, path->key);
        return connection_.Answer({});
      case HttpMethod::kPost:
      case HttpMethod::kOther:
        return connection_.Answer({.status = 405});
    }
  }

 private:
  MemoryStore& store_;
  PeerOwner& owners_;
  HttpConnection& connection_;
  bool peer_is_proved_ = false;
};

std::unique_ptr<HttpConversation> StoreDoor::Open(HttpConnection& connection) {
  return std::make_unique<Conversation>(*this, connection);
}

}  // namespace hvd
