#include "launcher/life_signs.h"

#include <algorithm>
#include <utility>

namespace hvd {
namespace {

constexpr int kBeats = 5;  // within the limit
// How often time is looked at, besides at the moment that silence would be long
// enough.
constexpr int kLooks = 100;
constexpr Duration kShortestLook{10};
constexpr Duration kLongestLook{200};
// A loop that comes this late was stopped, not busy.
constexpr Duration kAsleep{2'000};

}  // namespace

LifeSigns::LifeSigns(EventLoop& loop, Duration limit, std::function<void()> say,
                     std::function<void()> on_silent)
    : loop_(loop),
      limit_(limit),
      say_(std::move(say)),
      on_silent_(std::move(on_silent)),
      heard_(loop.Now()),
      said_(loop.Now()),
      looked_(loop.Now()) {
  LookLater();
}

void LifeSigns::Heard() {
  heard_ = loop_.Now();
  expects_silence_ = false;
}

void LifeSigns::LookLater() {
  const Instant next =
      loop_.Now() + std::clamp(limit_ / kLooks, kShortestLook, kLongestLook);
  next_ = loop_.At(std::min(next, heard_ + limit_), [this] { Look(); });
}

void LifeSigns::Look() {
  const Instant now = loop_.Now();
  if (now - looked_ > kAsleep || expects_silence_) heard_ = now;
  looked_ = now;
  if (now - said_ >= limit_ / kBeats) {
    said_ = now;
    say_();
  }
  if (now - heard_ >= limit_) {
    const auto silent = std::exchange(on_silent_, nullptr);
    silent();
    return;
  }
  LookLater();
}

}  // namespace hvd
