#include "launcher/stop_ladder.h"

#include <algorithm>
#include <csignal>

namespace hvd {

StopLadder::StopLadder(int first_signal, Duration grace, Instant now)
    : first_signal_(first_signal),
      grace_(std::max(grace, Duration::zero())),
      due_(now) {
  if (first_signal == SIGKILL) next_ = Rung::kKill;
}

std::optional<int> StopLadder::Next(Instant now) {
  if (now < due_) return std::nullopt;
  switch (next_) {
    case Rung::kFirst:
      if (first_signal_ == SIGTERM) {
        next_ = Rung::kKill;
        due_ = now + grace_;
      } else {
        next_ = Rung::kTerm;
        due_ = now + grace_ / 2;
      }
      return first_signal_;
    case Rung::kTerm:
      next_ = Rung::kKill;
      due_ = now + (grace_ - grace_ / 2);
      return SIGTERM;
    case Rung::kKill:
      next_ = Rung::kGiveUp;
      due_ = now + kKillPatience;
      return SIGKILL;
    case Rung::kGiveUp:
      return std::nullopt;
  }
  return std::nullopt;
}

void StopLadder::JumpToKill(Instant now) {
  if (next_ == Rung::kGiveUp) return;
  next_ = Rung::kKill;
  due_ = now;
}

bool StopLadder::gave_up(Instant now) const {
  return next_ == Rung::kGiveUp && now >= due_;
}

}  // namespace hvd
