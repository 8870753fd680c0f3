// WorldBoard: which worker waits for which world, and when it may have it.
//
// A world is handed out when all its members wait for it at the same moment,
// each with the endpoint it can be reached at now. So a dead process's endpoint
// is never handed out: its wait ended with its connection. A member that asks
// again for a world that is complete (its answer was lost) gets it at once, if
// its endpoint is still the one that the others were told.
//
// A host's address may change between two worlds: a worker that waits at
// another one is told to move, so that no world is handed out with it.
//
// Who has had a world and is in the next one no more is told so. Who has had
// none yet waits on: it has nothing to leave, and whoever started it ends it.
//
// Pure: a waiter is a number of the caller's; what these functions return is
// whom to answer, in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "rendezvous/membership.h"

namespace hvd {

// Names one waiting request.
enum class Waiter : std::uint64_t {};

enum class WorldOutcome {
  kComplete,      // world() and endpoints() are the answer
  kNotWanted,     // the worker is no member any more
  kAgain,         // nothing yet: ask again
  kReplaced,      // the same worker asked on another connection
  kUnknownEpoch,  // it claims a world that never was
  kWrongAddress,  // its ring is wanted at RingAddressOf(its host)
};

struct Release {
  Waiter waiter{};
  WorldOutcome outcome{};
  bool operator==(const Release&) const = default;
};

class WorldBoard {
 public:
  struct Request {
    WorkerId worker;
    Epoch after{};
    Endpoint endpoint;
    Instant until;  // when kAgain is due
  };
  struct Arrival {
    bool first_time = false;  // not the same question as this worker's last
    std::vector<Release> releases;
  };

  // HVD_CHECKs that the epoch grows.
  std::vector<Release> Publish(const World& world);
  Arrival Ask(Waiter waiter, const Request& request);
  // The request's connection is gone.
  void Leave(Waiter waiter);
  std::vector<Release> Expire(Instant now);
  // From now on the endpoints of that host's workers must have this address.
  std::vector<Release> SetRingAddress(const std::string& host,
                                      const std::string& address);
  // "" if any will do.
  std::string RingAddressOf(const std::string& host) const;
  // A member of this world is lost: if it is not complete yet it never will be,
  // though the member's slot may get another process that asks.
  void Spoil(Epoch epoch) {
    if (epoch == world_.epoch) spoiled_ = true;
  }

  // The one judge of epochs: false for a world that was never published.
  bool IsKnown(Epoch epoch) const { return epoch <= world_.epoch; }

  const World& world() const { return world_; }
  // By rank; of the last world() that was complete.
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }
  bool complete() const { return complete_; }

 private:
  struct Entry {
    Request last;
    std::optional<Waiter> waiter;
  };

  // True when this entry's worker waits for the world that is now published.
  bool Present(const Entry& entry) const;
  bool AtRightAddress(const Request& request) const;
  std::optional<WorldOutcome> AnswerNow(const Request& request) const;
  void CompleteIfAllPresent(std::vector<Release>& releases);
  void EndWait(Entry& entry, WorldOutcome outcome,
               std::vector<Release>& releases);

  std::map<std::string, std::string> ring_addresses_;  // by host
  World world_;
  std::map<WorkerId, std::size_t> ranks_;  // of world_
  std::vector<Endpoint> endpoints_;
  bool complete_ = false;
  bool spoiled_ = false;
  std::size_t present_ = 0;  // members of world_ that wait for it
  std::map<WorkerId, Entry> entries_;
  std::unordered_map<Waiter, WorkerId> waiting_;
};

}  // namespace hvd
