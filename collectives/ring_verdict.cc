#include "collectives/ring_verdict.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/ring_schedule.h"

namespace hvd {
namespace {

Side Opposite(Side side) {
  return side == Side::kLeft ? Side::kRight : Side::kLeft;
}

}  // namespace

CommFailure DeathOf(int rank) {
  return {rank, ErrorCode::kUnavailable,
          "rank " + std::to_string(rank) +
              " died: its connections closed without a goodbye"};
}

int RingVerdict::Neighbour(Side side) const {
  switch (side) {
    case Side::kLeft:
      return LeftOf(rank_, size_);
    case Side::kRight:
      return RightOf(rank_, size_);
  }
  HVD_CHECK(false);
}

void RingVerdict::Send(Side to, const RingRecord& record) {
  outgoing_.push_back({to, record});
}

void RingVerdict::SendBoth(const RingRecord& record) {
  Send(Side::kLeft, record);
  Send(Side::kRight, record);
}

void RingVerdict::Propose(CommFailure failure, Instant now) {
  if (verdict_ || proposed_) return;
  proposed_ = true;
  OnProposal({.kind = RingRecord::Kind::kProposal,
              .origin = rank_,
              .operations = 0,
              .failure = std::move(failure)},
             now);
}

void RingVerdict::Declare(CommFailure failure) {
  if (verdict_) return;
  failure.text.resize(std::min(failure.text.size(), kMaxFailureText));
  verdict_ = std::move(failure);
  const RingRecord record{.kind = RingRecord::Kind::kVerdict,
                          .origin = rank_,
                          .operations = 0,
                          .failure = *verdict_};
  SendBoth(record);
}

void RingVerdict::Leave(std::uint64_t operations) {
  if (verdict_) return;
  const RingRecord record{.kind = RingRecord::Kind::kGoodbye,
                          .origin = rank_,
                          .operations = operations,
                          .failure = {}};
  SendBoth(record);
}

void RingVerdict::OnRecord(Side from, RingRecord record, Instant now) {
  if (verdict_ || record.origin < 0 || record.origin >= size_) return;
  switch (record.kind) {
    case RingRecord::Kind::kProposal:
      if (record.origin != rank_) return OnProposal(std::move(record), now);
      // Home again: it has beaten all, unless a better one passed meanwhile.
      if (best_ && best_->origin == rank_) Declare(best_->failure);
      return;
    case RingRecord::Kind::kVerdict:
      return Declare(std::move(record.failure));
    case RingRecord::Kind::kGoodbye:
      return OnGoodbye(from, record);
    case RingRecord::Kind::kInquiry:
      return OnInquiry(from, record, now);
    case RingRecord::Kind::kPresent:
      return OnPresent(from, record);
  }
  HVD_CHECK(false);
}

void RingVerdict::OnProposal(RingRecord record, Instant now) {
  if (best_ && best_->origin <= record.origin) return;
  if (!best_) election_ends_ = now + kElection;
  best_ = std::move(record);
  Send(Side::kRight, *best_);
}

void RingVerdict::OnGoodbye(Side from, const RingRecord& record) {
  if (record.origin == rank_) return;
  if (!departed_.emplace(record.origin, record.operations).second) return;
  Send(Opposite(from), record);
}

void RingVerdict::Inquire(int suspect, std::string missed, Instant now) {
  if (verdict_ || best_ || inquiry_) return;
  inquiry_ = Inquiry{
      rank_, now + kInquiry, suspect, std::move(missed), {{rank_, entered_}}};
  SendBoth({.kind = RingRecord::Kind::kInquiry,
            .origin = rank_,
            .operations = 0,
            .failure = {}});
}

void RingVerdict::OnInquiry(Side from, const RingRecord& record, Instant now) {
  if (inquiry_ && inquiry_->origin <= record.origin) return;
  // Twice the time: its origin concludes, unless it dies over it.
  inquiry_ =
      Inquiry{record.origin, now + 2 * kInquiry, 0, "", {{rank_, entered_}}};
  Send(Opposite(from), record);
  SendBoth({.kind = RingRecord::Kind::kPresent,
            .origin = rank_,
            .operations = entered_,
            .failure = {record.origin, ErrorCode::kTimeout, ""}});
}

void RingVerdict::OnPresent(Side from, const RingRecord& record) {
  if (!inquiry_ || inquiry_->origin != record.failure.rank) return;
  if (!inquiry_->present.emplace(record.origin, record.operations).second) {
    return;
  }
  Send(Opposite(from), record);
}

// Everybody who could answer the inquiry of this rank has.
void RingVerdict::Conclude() {
  int silent = inquiry_->suspect;
  bool entered = true;
  std::uint64_t fewest = entered_;
  for (int rank = 0; rank < size_; ++rank) {
    if (departed_.count(rank) != 0)
      continue;  // it finished what this waits for
    const auto found = inquiry_->present.find(rank);
    if (found == inquiry_->present.end()) {
      silent = rank;
      entered = true;  // as far as anybody knows
      break;
    }
    if (found->second < fewest) {
      silent = rank;
      entered = false;
      fewest = found->second;
    }
  }
  Declare({silent, ErrorCode::kTimeout,
           "rank " + std::to_string(silent) +
               (entered ? " fell silent in " : " has not entered ") +
               inquiry_->missed});
}

void RingVerdict::OnGone(Side side) {
  const int neighbour = Neighbour(side);
  if (verdict_ || departed_.count(neighbour) != 0) return;
  Declare(DeathOf(neighbour));
}

void RingVerdict::OnTime(Instant now) {
  if (!verdict_ && best_ && now >= election_ends_) Declare(best_->failure);
  if (verdict_ || !inquiry_ || now < inquiry_->ends) return;
  if (inquiry_->origin == rank_) return Conclude();
  inquiry_.reset();
}

std::optional<Instant> RingVerdict::NextDeadline() const {
  if (verdict_) return std::nullopt;
  std::optional<Instant> next;
  if (best_) next = election_ends_;
  if (inquiry_ && (!next || inquiry_->ends < *next)) next = inquiry_->ends;
  return next;
}

std::optional<std::pair<int, std::uint64_t>> RingVerdict::first_departure()
    const {
  const auto first = std::min_element(
      departed_.begin(), departed_.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (first == departed_.end()) return std::nullopt;
  return *first;
}

}  // namespace hvd
