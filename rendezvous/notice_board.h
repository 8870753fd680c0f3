// NoticeBoard: what happened to which world, and who waits to be told.
//
// The first notice of an epoch is its cause and the only one kept: whoever asks
// later gets the same. A world that was replaced without a word has been
// replaced: that is its notice.
//
// Pure: a waiter is a number of the caller's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rendezvous/world_board.h"

namespace hvd {

struct WorldNotice {
  std::optional<int> lost_rank;
  std::string text;
  bool operator==(const WorldNotice&) const = default;
};

class NoticeBoard {
 public:
  // `notice` unset: nothing yet, ask again.
  struct Release {
    Waiter waiter{};
    std::optional<WorldNotice> notice;
  };

  std::vector<Release> Notify(Epoch epoch, const WorldNotice& notice);
  // Ends the waits for older worlds.
  std::vector<Release> Publish(Epoch epoch);
  // What is known of `epoch`, which must not be newer than the published one;
  // nullopt: the waiter is kept until `until`.
  std::optional<WorldNotice> Ask(Waiter waiter, Epoch epoch, Instant until);
  void Leave(Waiter waiter) { waiting_.erase(waiter); }
  std::vector<Release> Expire(Instant now);

 private:
  struct Wait {
    Epoch epoch{};
    Instant until;
  };

  std::optional<WorldNotice> Known(Epoch epoch) const;
  std::vector<Release> ReleaseKnown();

  Epoch current_{};
  std::map<Epoch, WorldNotice> notices_;  // the last few
  std::map<Waiter, Wait> waiting_;
};

}  // namespace hvd
