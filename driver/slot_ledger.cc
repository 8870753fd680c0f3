#include "driver/slot_ledger.h"

#include <algorithm>

namespace hvd {

int SlotLedger::Charge(const WorkerId& id, Instant now) {
  Slot& slot = slots_[id];
  if (slot.failures > 0 && now - slot.last_failure > options_.window) {
    slot.failures = 0;
  }
  ++slot.failures;
  slot.last_failure = now;
  slot.rests_until = now + RestAfter(slot.failures);
  return slot.failures;
}

void SlotLedger::Forgive(const std::string& host) {
  for (auto it = slots_.lower_bound({host, 0});
       it != slots_.end() && it->first.host == host; ++it) {
    it->second.retired = false;
  }
}

Instant SlotLedger::UsableFrom(const WorkerId& id) const {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return Instant::min();
  const Slot& slot = found->second;
  if (slot.retired) return Instant::max();
  const bool quarantined = slot.failures >= options_.slot_failures;
  if (quarantined && !options_.cooldown) return Instant::max();
  return slot.rests_until;
}

std::optional<Instant> SlotLedger::NextChange(
    const std::function<bool(const WorkerId&)>& listed, Instant now) const {
  std::optional<Instant> next;
  for (const auto& [id, slot] : slots_) {
    const Instant from = UsableFrom(id);
    if (from <= now || from == Instant::max()) continue;
    if ((!next || from < *next) && listed(id)) next = from;
  }
  return next;
}

// 0, first, 2 * first, 4 * first, ... up to the longest.
Duration SlotLedger::RestAfter(int failures) const {
  if (failures < 2) return Duration{0};
  const Cooldown cooldown = options_.cooldown.value_or(Cooldown{});
  Duration rest = cooldown.first;
  for (int i = 2; i < failures && rest < cooldown.longest; ++i) rest *= 2;
  return std::min(rest, cooldown.longest);
}

}  // namespace hvd
