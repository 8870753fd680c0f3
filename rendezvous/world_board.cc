#include "rendezvous/world_board.h"

#include "base/check.h"

namespace hvd {

std::vector<Release> WorldBoard::Publish(const World& world) {
  HVD_CHECK(world.epoch > world_.epoch);
  world_ = world;
  ranks_.clear();
  for (std::size_t rank = 0; rank < world_.workers.size(); ++rank) {
    ranks_.emplace(world_.workers[rank], rank);
  }
  HVD_CHECK(ranks_.size() == world_.workers.size());
  complete_ = false;
  spoiled_ = false;
  endpoints_.clear();
  present_ = 0;

  std::vector<Release> releases;
  for (auto& [worker, entry] : entries_) {
    if (!entry.waiter) continue;
    if (ranks_.contains(worker)) {
      ++present_;
    } else if (entry.last.after != Epoch{}) {
      EndWait(entry, WorldOutcome::kNotWanted, releases);
    }
    // Else it has had no world yet, and its first is still to come.
  }
  CompleteIfAllPresent(releases);
  return releases;
}

WorldBoard::Arrival WorldBoard::Ask(Waiter waiter, const Request& request) {
  Arrival arrival;
  if (!IsKnown(request.after)) {
    arrival.releases.push_back({waiter, WorldOutcome::kUnknownEpoch});
    return arrival;
  }
  const auto [found, is_new] =
      entries_.try_emplace(request.worker, Entry{request, std::nullopt});
  Entry& entry = found->second;
  arrival.first_time = is_new || entry.last.after != request.after ||
                       entry.last.endpoint != request.endpoint;
  EndWait(entry, WorldOutcome::kReplaced, arrival.releases);
  entry.last = request;
  if (const std::optional<WorldOutcome> outcome = AnswerNow(request)) {
    // Neither is ready: one has no next world, the other asks again.
    if (*outcome == WorldOutcome::kNotWanted ||
        *outcome == WorldOutcome::kWrongAddress) {
      arrival.first_time = false;
    }
    arrival.releases.push_back({waiter, *outcome});
    return arrival;
  }
  entry.waiter = waiter;
  waiting_.emplace(waiter, request.worker);
  if (Present(entry)) {
    ++present_;
    CompleteIfAllPresent(arrival.releases);
  }
  return arrival;
}

void WorldBoard::Leave(Waiter waiter) {
  const auto found = waiting_.find(waiter);
  if (found == waiting_.end()) return;
  std::vector<Release> ignored;
  EndWait(entries_.at(found->second), WorldOutcome::kAgain, ignored);
}

std::vector<Release> WorldBoard::Expire(Instant now) {
  std::vector<Release> releases;
  for (auto& [worker, entry] : entries_) {
    if (entry.waiter && entry.last.until <= now) {
      EndWait(entry, WorldOutcome::kAgain, releases);
    }
  }
  return releases;
}

std::vector<Release> WorldBoard::SetRingAddress(const std::string& host,
                                                const std::string& address) {
  ring_addresses_[host] = address;
  std::vector<Release> releases;
  for (auto& [worker, entry] : entries_) {
    if (!entry.waiter || AtRightAddress(entry.last)) continue;
    EndWait(entry, WorldOutcome::kWrongAddress, releases);
  }
  return releases;
}

std::string WorldBoard::RingAddressOf(const std::string& host) const {
  const auto found = ring_addresses_.find(host);
  return found != ring_addresses_.end() ? found->second : "";
}

bool WorldBoard::AtRightAddress(const Request& request) const {
  const auto found = ring_addresses_.find(request.worker.host);
  return found == ring_addresses_.end() ||
         found->second == request.endpoint.address;
}

bool WorldBoard::Present(const Entry& entry) const {
  return entry.waiter && !complete_ && entry.last.after < world_.epoch &&
         ranks_.contains(entry.last.worker);
}

std::optional<WorldOutcome> WorldBoard::AnswerNow(
    const Request& request) const {
  const auto rank = ranks_.find(request.worker);
  const bool newer = request.after != world_.epoch;
  if (newer && rank == ranks_.end() && request.after != Epoch{}) {
    return WorldOutcome::kNotWanted;
  }
  // Another endpoint is another process: the others cannot reach it, so it
  // waits for a world of its own.
  if (newer && rank != ranks_.end() && complete_ &&
      endpoints_[rank->second] == request.endpoint) {
    return WorldOutcome::kComplete;
  }
  if (!AtRightAddress(request)) return WorldOutcome::kWrongAddress;
  return std::nullopt;
}

void WorldBoard::CompleteIfAllPresent(std::vector<Release>& releases) {
  if (complete_ || spoiled_ || world_.workers.empty() ||
      present_ < world_.workers.size()) {
    return;
  }
  for (const WorkerId& worker : world_.workers) {
    Entry& entry = entries_.at(worker);
    endpoints_.push_back(entry.last.endpoint);
    EndWait(entry, WorldOutcome::kComplete, releases);
  }
  complete_ = true;
  present_ = 0;
}

void WorldBoard::EndWait(Entry& entry, WorldOutcome outcome,
                         std::vector<Release>& releases) {
  if (!entry.waiter) return;
  if (Present(entry)) --present_;
  releases.push_back({*entry.waiter, outcome});
  waiting_.erase(*entry.waiter);
  entry.waiter.reset();
}

}  // namespace hvd
