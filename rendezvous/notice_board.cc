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
  Heard& heard = notices_[epoch];
  std::optional<WorldNotice>& first =
      notice.lost_rank ? heard.loss : heard.change;
  if (!first) first = notice;
  if (notices_.size() > kKeptNotices) notices_.erase(notices_.begin());
  return ReleaseKnown();
}

std::vector<NoticeBoard::Release> NoticeBoard::Publish(Epoch epoch) {
  current_ = epoch;
  return ReleaseKnown();
}

std::optional<WorldNotice> NoticeBoard::Ask(Waiter waiter, Question question,
                                            Instant until) {
  std::optional<WorldNotice> answer = Answer(question);
  if (!answer) waiting_[waiter] = {question, until};
  return answer;
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

std::optional<WorldNotice> NoticeBoard::Worst(Epoch epoch) const {
  const auto found = notices_.find(epoch);
  const Heard heard = found != notices_.end() ? found->second : Heard{};
  if (heard.loss) return heard.loss;
  if (epoch == current_) return heard.change;
  std::string why = "the world of epoch " + Number(epoch) +
                    " was replaced by epoch " + Number(current_);
  if (heard.change) why = heard.change->text;
  return WorldNotice{std::nullopt, std::move(why), true};
}

std::optional<WorldNotice> NoticeBoard::Answer(const Question& question) const {
  std::optional<WorldNotice> worst = Worst(question.epoch);
  if (worst && worst->kind() <= question.heard) return std::nullopt;
  return worst;
}

std::vector<NoticeBoard::Release> NoticeBoard::ReleaseKnown() {
  std::vector<Release> releases;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (std::optional<WorldNotice> answer = Answer(it->second.question)) {
      releases.push_back({it->first, std::move(answer)});
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
  return releases;
}

}  // namespace hvd
