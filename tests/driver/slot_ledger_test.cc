#include "driver/slot_ledger.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

namespace hvd {
namespace {

const WorkerId kSlot{"a", 0};
const Instant kStart{};

// How long the slot rests after each of `times` failures, all at once.
std::vector<Duration> Rests(SlotLedger& ledger, int times) {
  std::vector<Duration> rests;
  for (int i = 0; i < times; ++i) {
    ledger.Charge(kSlot, kStart);
    rests.push_back(std::chrono::duration_cast<Duration>(
        ledger.UsableFrom(kSlot) - kStart));
  }
  return rests;
}

bool Listed(const WorkerId& slot) { return slot == kSlot; }

}  // namespace

TEST_CASE("the first failure of a slot costs nothing, then rests double",
          "[driver][unit]") {
  // Horovod PR#3319 documented 10, 20, 30 where doubling was meant.
  SlotLedger ledger({.slot_failures = 9, .cooldown = Cooldown{2s, 8s}});
  CHECK(Rests(ledger, 6) == std::vector<Duration>{0s, 2s, 4s, 8s, 8s, 8s});
}

TEST_CASE("a slot that fails too often is out for good", "[driver][unit]") {
  SlotLedger ledger({.slot_failures = 2});
  ledger.Charge(kSlot, kStart);
  CHECK(ledger.UsableFrom(kSlot) == kStart);
  CHECK(ledger.Charge(kSlot, kStart) == 2);
  CHECK(ledger.UsableFrom(kSlot) == Instant::max());
  CHECK_FALSE(ledger.NextChange(Listed, kStart));
}

TEST_CASE("with a cooldown range a quarantine ends", "[driver][unit]") {
  SlotLedger ledger({.slot_failures = 2, .cooldown = Cooldown{2s, 8s}});
  ledger.Charge(kSlot, kStart);
  ledger.Charge(kSlot, kStart);
  CHECK(ledger.UsableFrom(kSlot) == kStart + 2s);
  CHECK(ledger.NextChange(Listed, kStart) == kStart + 2s);
}

TEST_CASE("a slot that nobody lists does not come back", "[driver][unit]") {
  SlotLedger ledger({.cooldown = Cooldown{2s, 8s}});
  ledger.Charge(kSlot, kStart);
  ledger.Charge(kSlot, kStart);
  CHECK_FALSE(ledger.NextChange([](const WorkerId&) { return false; }, kStart));
}

TEST_CASE("failures that lie longer back than the window are forgotten",
          "[driver][unit]") {
  SlotLedger ledger({.window = 60s});
  ledger.Charge(kSlot, kStart);
  ledger.Charge(kSlot, kStart + 1s);
  CHECK(ledger.Charge(kSlot, kStart + 62s) == 1);
}

TEST_CASE("a failure charges its slot and not the host", "[driver][unit]") {
  SlotLedger ledger({.slot_failures = 1});
  ledger.Charge({"a", 0}, kStart);
  CHECK(ledger.UsableFrom({"a", 1}) == Instant::min());
  CHECK(ledger.UsableFrom({"a", 0}) == Instant::max());
}

TEST_CASE("a retired slot is used again when its host is named anew",
          "[driver][unit]") {
  SlotLedger ledger({});
  ledger.Retire(kSlot);
  CHECK(ledger.UsableFrom(kSlot) == Instant::max());
  ledger.Forgive("a");
  CHECK(ledger.UsableFrom(kSlot) <= kStart);
}

}  // namespace hvd
