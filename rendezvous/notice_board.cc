#include "rendezvous/notice_board.h"

#include <utility>

#include "base/check.h"

namespace hvd {
namespace {

// A worker more than this many worlds behind learns only that it is behind.
constexpr std::size_t kKeptNotices = 16;

std::string Number(Epoch epoch) {
  return std::to_string(static_cast<std::uint64_t>(epoch));
}

}  // namespace

std::vector<NoticeBoard::Release> NoticeBoard::Notify(
    Epoch epoch, const WorldNotice& notice) {
  HVD_CHECK(epoch <= current_);
  notices_.try_emplace(epoch, notice);
  if (notices_.size() > kKeptNotices) notices_.erase(notices_.begin());
  return ReleaseKnown();
}

std::vector<NoticeBoard::Release> NoticeBoard::Publish(Epoch epoch) {
  current_ = epoch;
  return ReleaseKnown();
}

std::optional<WorldNotice> NoticeBoard::Ask(Waiter waiter, Epoch epoch,
                                            Instant until) {
  std::optional<WorldNotice> known = Known(epoch);
  if (!known) waiting_[waiter] = {epoch, until};
  return known;
}

std::vector<NoticeBoard::Release> NoticeBoard::Expire(Instant now) {
  std::vector<Release> releases;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.until <= now) {
      releases.push_back({it->first, std::nullopt});
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
  return releases;
}

std::optional<WorldNotice> NoticeBoard::Known(Epoch epoch) const {
  const auto found = notices_.find(epoch);
  if (found != notices_.end()) return found->second;
  if (epoch == current_) return std::nullopt;
  return WorldNotice{std::nullopt, "the world of epoch " + Number(epoch) +
                                       " was replaced by epoch " +
                                       Number(current_)};
}

std::vector<NoticeBoard::Release> NoticeBoard::ReleaseKnown() {
  std::vector<Release> releases;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (std::optional<WorldNotice> known = Known(it->second.epoch)) {
      releases.push_back({it->first, std::move(known)});
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
  return releases;
}

}  // namespace hvd
