// StopLadder: which signal a worker that is to end gets next, and when.
//
// First signal at once; if that was not TERM, TERM at half of the grace; KILL
// at its end; two seconds later it gives up. A rung that is late (hvdrun was
// stopped meanwhile) delays the following ones: none is ever skipped.
//
// Pure: the caller sends the signals, each followed by SIGCONT, because a
// stopped process acts on nothing but SIGKILL.
#pragma once

#include <optional>

#include "base/clock.h"

namespace hvd {

// A process that outlives SIGKILL by this much sits in uninterruptible I/O.
inline constexpr Duration kKillPatience{2000};

class StopLadder {
 public:
  StopLadder(int first_signal, Duration grace, Instant now);

  // The signal that is due now, if one is. At most one a call: ask until it
  // has none.
  std::optional<int> Next(Instant now);
  // Makes SIGKILL the next signal, due at once.
  void JumpToKill(Instant now);
  // When the next signal, or giving up, is due.
  Instant NextDeadline() const { return due_; }
  // SIGKILL was sent and kKillPatience has passed.
  bool gave_up(Instant now) const;

 private:
  enum class Rung { kFirst, kTerm, kKill, kGiveUp };

  int first_signal_;
  Duration grace_;
  Rung next_ = Rung::kFirst;
  Instant due_;
};

}  // namespace hvd
