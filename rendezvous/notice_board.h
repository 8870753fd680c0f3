// NoticeBoard: what happened to which world, and who waits to be told.
//
// Three things can happen to a world, each worse than the one before: the hosts
// have changed, so that a new world is being made; it was replaced; a rank is
// lost. Of each only the first notice counts, whoever asks later gets the same.
// Who has heard one waits for something worse.
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

// How bad it is, in that order; also how much a worker has heard already.
enum class NoticeKind { kNone, kHostsChanged, kReplaced, kRankLost };

struct WorldNotice {
  std::optional<int> lost_rank;
  std::string text;
  bool replaced = false;
  // The lost rank's sockets stay as they are: its host went without a word, and
  // no other rank can notice.
  bool silent = false;

  NoticeKind kind() const {
    if (lost_rank) return NoticeKind::kRankLost;
    return replaced ? NoticeKind::kReplaced : NoticeKind::kHostsChanged;
  }
  bool operator==(const WorldNotice&) const = default;
};

class NoticeBoard {
 public:
  // `notice` unset: nothing yet, ask again.
  struct Release {
    Waiter waiter{};
    std::optional<WorldNotice> notice;
  };

  // A rank of `epoch` is lost, or its hosts have changed.
  std::vector<Release> Notify(Epoch epoch, const WorldNotice& notice);
  // Ends the waits for older worlds.
  std::vector<Release> Publish(Epoch epoch);
  struct Question {
    Epoch epoch{};  // must not be newer than the published one
    NoticeKind heard = NoticeKind::kNone;
    // How many collectives of that world the worker has begun; it says so in
    // passing.
    std::uint64_t operations = 0;
  };
  // The worst that is known, if it is worse than what was heard; nullopt: the
  // waiter is kept until `until`.
  std::optional<WorldNotice> Ask(Waiter waiter, Question question,
                                 Instant until);
  void Leave(Waiter waiter) { waiting_.erase(waiter); }
  std::vector<Release> Expire(Instant now);

 private:
  struct Wait {
    Question question;
    Instant until;
  };
  struct Heard {
    std::optional<WorldNotice> change;
    std::optional<WorldNotice> loss;
  };

  std::optional<WorldNotice> Worst(Epoch epoch) const;
  std::optional<WorldNotice> Answer(const Question& question) const;
  std::vector<Release> ReleaseKnown();

  Epoch current_{};
  std::map<Epoch, Heard> notices_;  // the last few
  std::map<Waiter, Wait> waiting_;
};

}  // namespace hvd
