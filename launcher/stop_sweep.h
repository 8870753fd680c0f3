// StopSweep: ends a whole set of processes, whatever they do about it.
//
// TERM to every group, the grace, then STOP until a look finds no new group
// (what is stopped forks no more), then KILL until nothing is left. Groups, not
// pids: the kernel signals a group in one step, so that no fork slips through
// and a fork bomb ends. A group belongs to one session, and each worker has its
// own, so a group never holds a process of someone else.
//
// A look at /proc is no snapshot: a process may be listed, fork one that is
// not, and end before its state is read. So nothing is left only once a look
// finds not even an ended one; what a process leaves becomes visible with its
// end.
//
// Pure: the caller looks (base/descendants.h), signals, and reaps before it
// looks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/descendants.h"

namespace hvd {

struct GroupSignal {
  pid_t group = 0;
  int signo = 0;
  bool operator==(const GroupSignal&) const = default;
};

class StopSweep {
 public:
  StopSweep(Duration grace, Instant now);

  // `targets`: those of the set that there are now, ended but not reaped ones
  // too. What to send, in order.
  std::vector<GroupSignal> On(const std::vector<ProcessInfo>& targets,
                              Instant now);

  // When to look again, at the latest; sooner when a child has ended.
  Instant NextDeadline() const { return next_look_; }
  // KILL becomes due at `when` if it was to come later.
  void KillBy(Instant when);
  // Nothing is left, or `left()` is and can't be ended.
  bool done() const { return phase_ == Phase::kDone; }
  int left() const { return left_; }

 private:
  enum class Phase { kTerm, kKill, kDone };

  void OnEndedOnly(bool any, Instant now);
  void OnTerm(const std::set<pid_t>& groups, std::vector<GroupSignal>& out);
  void OnKill(const std::set<pid_t>& groups, Instant now,
              std::vector<GroupSignal>& out);

  Phase phase_ = Phase::kTerm;
  Instant kill_at_;
  Instant next_look_;
  Instant give_up_at_{};
  std::optional<Instant> settled_at_;  // while only ended ones are found
  std::set<pid_t> termed_;
  std::set<pid_t> stopped_;
  int left_ = 0;
};

// kill(2) for each. One that is gone or that we may not signal is no error: the
// next look tells.
void SendSignals(const std::vector<GroupSignal>& signals);

}  // namespace hvd
