// SlotLedger: which slots may be used, and from when, after what has failed on
// them.
//
// A failure charges its slot, not its host: one bad GPU does not take its
// neighbours along. The first failure of a slot costs nothing, from the second
// on it rests for a while that doubles, and one that fails too often is
// quarantined. A host all of whose slots are is out of use by that alone.
//
// Pure. Failures that lie longer back than the window are forgotten.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "rendezvous/world.h"

namespace hvd {

struct Cooldown {
  Duration first{1'000};
  Duration longest{60'000};
};

struct LedgerOptions {
  int slot_failures = 3;  // --slot-failures: so many, and a slot is quarantined
  // --blacklist-cooldown-range. Given, a quarantine ends after its cooldown;
  // not given, it does not end.
  std::optional<Cooldown> cooldown = std::nullopt;
  Duration window{3'600'000};  // --restart-window
};

class SlotLedger {
 public:
  explicit SlotLedger(const LedgerOptions& options) : options_(options) {}

  // How often the slot has failed now, within the window.
  int Charge(const WorkerId& slot, Instant now);
  // Its worker left with 0 of its own will: it is not started again.
  void Retire(const WorkerId& slot) { slots_[slot].retired = true; }
  // The host was named anew: its slots get another chance.
  void Forgive(const std::string& host);

  // When a worker may be started there: now or earlier, later, or never.
  Instant UsableFrom(const WorkerId& slot) const;
  // The next moment after `now` at which a slot that is `listed` becomes
  // usable.
  std::optional<Instant> NextChange(
      const std::function<bool(const WorkerId&)>& listed, Instant now) const;

 private:
  struct Slot {
    int failures = 0;
    Instant last_failure;
    Instant rests_until;
    bool retired = false;
  };

  Duration RestAfter(int failures) const;

  LedgerOptions options_;
  std::map<WorkerId, Slot> slots_;  // those that anything is known of
};

}  // namespace hvd
