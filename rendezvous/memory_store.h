// MemoryStore: Horovod's key-value store, without the network.
//
// Scopes that the plan names (global, local_<host>, cross_<local_rank>) are
// emptied when all their ranks have deleted their own key; in any other scope
// a DELETE removes that key. Unlike Horovod's server, a scope that finishes
// leaves the count of the others alone, and a rank that deletes twice counts
// once.
//
// Pure.
// Source of the rules: horovod/runner/http/http_server.py (0.28.1).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "rendezvous/world.h"

namespace hvd {

class MemoryStore {
 public:
  // All keys, values and their bookkeeping together stay below `max_bytes`.
  explicit MemoryStore(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Forgets everything; `world` says which scopes finish, and when.
  void Reset(const World& world);

  // False: the store is full, nothing has changed.
  [[nodiscard]] bool Put(std::string_view scope, std::string_view key,
                         std::string_view value);
  // nullptr: no such key. Valid until the next change.
  const std::string* Get(std::string_view scope, std::string_view key) const;
  void Delete(std::string_view scope, std::string_view key);

  std::size_t bytes() const { return bytes_; }

 private:
  using Values = std::map<std::string, std::string, std::less<>>;
  struct Plan {
    int size = 0;
    std::set<int> finished;
  };

  void Clear(std::string_view scope);
  void Remove(std::string_view scope, std::string_view key);

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::map<std::string, Values, std::less<>> scopes_;
  std::map<std::string, Plan, std::less<>> plans_;
};

}  // namespace hvd
