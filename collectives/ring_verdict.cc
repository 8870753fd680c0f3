#include "collectives/ring_verdict.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/ring_schedule.h"

namespace hvd {

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
  Send(Side::kLeft, record);
  Send(Side::kRight, record);
}

void RingVerdict::Leave(std::uint64_t operations) {
  if (verdict_) return;
  const RingRecord record{.kind = RingRecord::Kind::kGoodbye,
                          .origin = rank_,
                          .operations = operations,
                          .failure = {}};
  Send(Side::kLeft, record);
  Send(Side::kRight, record);
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
  Send(from == Side::kLeft ? Side::kRight : Side::kLeft, record);
}

void RingVerdict::OnGone(Side side) {
  const int neighbour = Neighbour(side);
  if (verdict_ || departed_.count(neighbour) != 0) return;
  Declare({neighbour, ErrorCode::kUnavailable,
           "rank " + std::to_string(neighbour) +
               " died: its connections closed without a goodbye"});
}

void RingVerdict::OnTime(Instant now) {
  if (!verdict_ && best_ && now >= election_ends_) Declare(best_->failure);
}

std::optional<Instant> RingVerdict::NextDeadline() const {
  if (verdict_ || !best_) return std::nullopt;
  return election_ends_;
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
