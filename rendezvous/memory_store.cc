#include "rendezvous/memory_store.h"

#include <charconv>
#include <optional>
#include <vector>

namespace hvd {
namespace {

// What a node of a map costs besides its texts, roughly: an empty key with an
// empty value is not free.
constexpr std::size_t kEntryBytes = 128;

std::size_t Cost(std::string_view key, std::string_view value) {
  return kEntryBytes + key.size() + value.size();
}

std::optional<int> ParseRank(std::string_view key, int size) {
  int rank = 0;
  const auto [end, ec] =
      std::from_chars(key.data(), key.data() + key.size(), rank);
  if (ec != std::errc{} || end != key.data() + key.size()) return std::nullopt;
  if (rank < 0 || rank >= size) return std::nullopt;
  return rank;
}

}  // namespace

void MemoryStore::Reset(const World& world) {
  scopes_.clear();
  plans_.clear();
  bytes_ = 0;
  const std::vector<Placement> placements = Placements(world);
  for (std::size_t rank = 0; rank < placements.size(); ++rank) {
    const Placement& p = placements[rank];
    plans_["global"].size = p.size;
    plans_["local_" + world.workers[rank].host].size = p.local_size;
    plans_["cross_" + std::to_string(p.local_rank)].size = p.cross_size;
  }
}

bool MemoryStore::Put(std::string_view scope, std::string_view key,
                      std::string_view value) {
  const std::string* old = Get(scope, key);
  const std::size_t freed = old == nullptr ? 0 : Cost(key, *old);
  std::size_t wanted = Cost(key, value);
  auto found = scopes_.find(scope);
  if (found == scopes_.end()) wanted += Cost(scope, "");
  if (bytes_ - freed + wanted > max_bytes_) return false;
  bytes_ = bytes_ - freed + wanted;
  if (found == scopes_.end()) {
    found = scopes_.emplace(std::string(scope), Values{}).first;
  }
  Values& values = found->second;
  const auto entry = values.find(key);
  if (entry != values.end()) {
    entry->second.assign(value);
  } else {
    values.emplace(std::string(key), std::string(value));
  }
  return true;
}

const std::string* MemoryStore::Get(std::string_view scope,
                                    std::string_view key) const {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return nullptr;
  const auto entry = found->second.find(key);
  return entry == found->second.end() ? nullptr : &entry->second;
}

void MemoryStore::Delete(std::string_view scope, std::string_view key) {
  const auto found = plans_.find(scope);
  if (found == plans_.end()) return Remove(scope, key);
  Plan& plan = found->second;
  const std::optional<int> rank = ParseRank(key, plan.size);
  if (!rank) return Remove(scope, key);
  plan.finished.insert(*rank);
  if (static_cast<int>(plan.finished.size()) < plan.size) return;
  plan.finished.clear();
  Clear(scope);
}

void MemoryStore::Clear(std::string_view scope) {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return;
  for (const auto& [key, value] : found->second) bytes_ -= Cost(key, value);
  bytes_ -= Cost(scope, "");
  scopes_.erase(found);
}

void MemoryStore::Remove(std::string_view scope, std::string_view key) {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return;
  const auto entry = found->second.find(key);
  if (entry == found->second.end()) return;
  bytes_ -= Cost(entry->first, entry->second);
  found->second.erase(entry);
  if (found->second.empty()) Clear(scope);
}

}  // namespace hvd
