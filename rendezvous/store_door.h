// StoreDoor: /<scope>/<key>, Horovod's key-value store over HTTP.
//
// Its clients cannot sign, so it opens only for sockets on this host's loopback
// that belong to this process's user; the kernel is asked once a connection. It
// stores bytes and gives them back; it never looks inside.
//
// Source of the answers: horovod/runner/http/http_server.py (0.28.1); where it
// drops a connection without a word, this door answers.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "rendezvous/http_connection.h"
#include "rendezvous/memory_store.h"
#include "rendezvous/peer_owner.h"

namespace hvd {

inline constexpr std::size_t kMaxValueBytes = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxStoreBytes = std::size_t{256} << 20U;

// "/scope/key" cut in two; nullopt for any other shape. Nothing is decoded: a
// query string is part of the key.
struct StorePath {
  std::string_view scope;
  std::string_view key;
  bool operator==(const StorePath&) const = default;
};
std::optional<StorePath> ParseStorePath(std::string_view target);

class StoreDoor {
 public:
  void Publish(const World& world) { store_.Reset(world); }

  std::unique_ptr<HttpConversation> Open(HttpConnection& connection);

 private:
  class Conversation;
  MemoryStore store_{kMaxStoreBytes};
  PeerOwner owners_;
};

}  // namespace hvd
