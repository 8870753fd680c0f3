// StoreDoor: /<scope>/<key>, Horovod's key-value store over HTTP.
//
// Its clients cannot sign, so it opens only for sockets on this host's loopback
// that belong to this process's user; the kernel is asked once a connection. It
// stores bytes and gives them back and never looks inside, but for the two keys
// of elastic jobs that are questions: those are HorovodBoard's.
//
// Horovod asks every 10 ms for the address of a rank that has not come yet.
// Such a GET is kept until there is one, for a time well within the 30 s after
// which the client gives up; it looks at its clock between two requests only.
//
// Source of the answers: horovod/runner/http/http_server.py (0.28.1); where it
// drops a connection without a word, this door answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "rendezvous/horovod_board.h"
#include "rendezvous/horovod_caller.h"
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
  // Called from the loop, never from inside a call here.
  struct Handlers {
    std::function<void(const WorkerId&, Epoch after)> on_ready;
    std::function<void(const WorkerId&)> on_misplaced;
  };

  StoreDoor(EventLoop& loop, bool elastic, Handlers handlers);
  ~StoreDoor();
  StoreDoor(const StoreDoor&) = delete;
  StoreDoor& operator=(const StoreDoor&) = delete;

  std::unique_ptr<HttpConversation> Open(HttpConnection& connection);

  void Publish(const World& world);
  void Started(const StartedWorkers& started);
  void Ended(const WorkerId& worker);
  // Ends the waits for addresses that have lasted long enough.
  void Sweep(Instant now);

 private:
  class Conversation;
  using Effects = HorovodBoard::Effects;

  void Apply(const Effects& effects);
  void Empty(const World& world);
  // The conversation that waits under this number, no longer waiting.
  Conversation* Unpark(Waiter waiter);
  void Report(const Effects& effects);
  void TellWorkers();

  EventLoop& loop_;
  const bool elastic_;
  const Handlers handlers_;
  MemoryStore store_{kMaxStoreBytes};
  PeerOwner owners_;
  HorovodBoard board_;
  HorovodCaller caller_;
  std::unique_ptr<Timer> next_call_;
  std::unordered_map<Waiter, Conversation*> parked_;  // for the board
  std::map<std::string, std::vector<Conversation*>, std::less<>>
      awaited_;                                    // by "/scope/key"
  std::vector<std::pair<WorkerId, Epoch>> ready_;  // still to be reported
  std::vector<WorkerId> misplaced_;
  std::unique_ptr<Timer> report_;
};

}  // namespace hvd
