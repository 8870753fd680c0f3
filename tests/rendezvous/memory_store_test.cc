#include "rendezvous/memory_store.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

namespace hvd {
namespace {

constexpr std::size_t kPlenty = 1U << 20U;
const World kWorld{Epoch{1}, {{"a", 0}, {"a", 1}, {"b", 0}}};

MemoryStore Planned() {
  MemoryStore store(kPlenty);
  store.Reset(kWorld);
  return store;
}

bool Has(const MemoryStore& store, std::string_view scope,
         std::string_view key) {
  return store.Get(scope, key) != nullptr;
}

}  // namespace

TEST_CASE("MemoryStore gives back the bytes it was given", "[rendezvous]") {
  MemoryStore store(kPlenty);
  const std::string bytes("\x00\xff\r\n", 4);
  REQUIRE(store.Put("s", "k", bytes));
  REQUIRE(Has(store, "s", "k"));
  CHECK(*store.Get("s", "k") == bytes);
  REQUIRE(store.Put("s", "k", ""));
  REQUIRE(Has(store, "s", "k"));
  CHECK(store.Get("s", "k")->empty());
  CHECK_FALSE(Has(store, "s", "other"));
  CHECK_FALSE(Has(store, "other", "k"));
}

TEST_CASE("DELETE in a scope without a plan removes that key alone",
          "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("ad-hoc", "0", "x"));
  REQUIRE(store.Put("ad-hoc", "rank_0", "y"));
  store.Delete("ad-hoc", "0");
  CHECK_FALSE(Has(store, "ad-hoc", "0"));
  CHECK(Has(store, "ad-hoc", "rank_0"));
  store.Delete("ad-hoc", "rank_0");
  store.Delete("ad-hoc", "rank_0");
  store.Delete("never", "was");
  CHECK(store.bytes() == 0);
}

TEST_CASE("a planned scope is emptied when its last rank has deleted",
          "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("global", "rank_0", "host"));
  REQUIRE(store.Put("global", "0", "address"));
  store.Delete("global", "0");
  store.Delete("global", "2");
  CHECK(Has(store, "global", "0"));  // others may still need it
  store.Delete("global", "1");
  CHECK_FALSE(Has(store, "global", "0"));
  CHECK_FALSE(Has(store, "global", "rank_0"));
  CHECK(store.bytes() == 0);
}

TEST_CASE("a rank that deletes twice counts once", "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("global", "0", "address"));
  for (int i = 0; i < 3; ++i) store.Delete("global", "0");
  CHECK(Has(store, "global", "0"));
}

TEST_CASE("a finished scope leaves the count of the others alone",
          "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("global", "0", "address"));
  store.Delete("global", "0");
  store.Delete("global", "1");
  store.Delete("local_b", "0");  // of size 1: finished
  store.Delete("global", "2");
  CHECK_FALSE(Has(store, "global", "0"));
}

TEST_CASE("a planned scope can finish again", "[rendezvous]") {
  MemoryStore store = Planned();
  for (int round = 0; round < 2; ++round) {
    REQUIRE(store.Put("local_a", "0", "address"));
    store.Delete("local_a", "0");
    CHECK(Has(store, "local_a", "0"));
    store.Delete("local_a", "1");
    CHECK_FALSE(Has(store, "local_a", "0"));
  }
}

TEST_CASE("the plan has the sizes of local and cross scopes", "[rendezvous]") {
  MemoryStore store = Planned();
  for (const char* scope : {"local_b", "cross_1"}) {
    INFO(scope);
    REQUIRE(store.Put(scope, "x", "y"));
    store.Delete(scope, "0");
    CHECK_FALSE(Has(store, scope, "x"));
  }
  REQUIRE(store.Put("cross_0", "x", "y"));
  store.Delete("cross_0", "0");
  CHECK(Has(store, "cross_0", "x"));
  store.Delete("cross_0", "1");
  CHECK_FALSE(Has(store, "cross_0", "x"));
}

TEST_CASE("in a planned scope a key that is no rank is just removed",
          "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("local_b", "rank_0", "x"));
  REQUIRE(store.Put("local_b", "1", "x"));
  store.Delete("local_b", "rank_0");
  store.Delete("local_b", "1");
  store.Delete("local_b", "-1");
  CHECK_FALSE(Has(store, "local_b", "rank_0"));
  CHECK_FALSE(Has(store, "local_b", "1"));
  CHECK(store.bytes() == 0);
}

TEST_CASE("Reset forgets values and counts", "[rendezvous]") {
  MemoryStore store = Planned();
  REQUIRE(store.Put("global", "0", "x"));
  REQUIRE(store.Put("ad-hoc", "0", "x"));
  store.Delete("global", "0");
  store.Delete("global", "1");
  store.Reset(kWorld);
  CHECK(store.bytes() == 0);
  CHECK_FALSE(Has(store, "ad-hoc", "0"));
  REQUIRE(store.Put("global", "0", "x"));
  store.Delete("global", "2");
  CHECK(Has(store, "global", "0"));
}

TEST_CASE("a full MemoryStore refuses and stays as it was", "[rendezvous]") {
  MemoryStore store(2000);
  REQUIRE(store.Put("s", "k", std::string(1000, 'x')));
  const std::size_t before = store.bytes();
  CHECK_FALSE(store.Put("s", "k", std::string(2000, 'y')));
  CHECK_FALSE(store.Put("s", "other", std::string(1000, 'y')));
  CHECK(store.bytes() == before);
  CHECK(store.Get("s", "k")->front() == 'x');
  CHECK(store.Put("s", "k", std::string(1200, 'z')));
  store.Delete("s", "k");
  CHECK(store.bytes() == 0);
}

TEST_CASE("empty values are not free of charge", "[rendezvous]") {
  MemoryStore store(100'000);
  int stored = 0;
  while (store.Put("s", std::to_string(stored), "")) ++stored;
  CHECK(stored < 1000);
}

TEST_CASE("MemoryStore agrees with a plain map over random operations",
          "[rendezvous]") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  MemoryStore store(kPlenty);
  std::map<std::string, std::string> model;
  for (int i = 0; i < 5000; ++i) {
    const std::string scope = "s" + std::to_string(random() % 3);
    const std::string key = "k" + std::to_string(random() % 5);
    const std::string path = scope + "/" + key;
    if (random() % 2 == 0) {
      model[path] = std::string(random() % 50, 'v');
      REQUIRE(store.Put(scope, key, model[path]));
    } else {
      model.erase(path);
      store.Delete(scope, key);
    }
    const std::string* got = store.Get(scope, key);
    REQUIRE((got != nullptr) == model.contains(path));
    if (got != nullptr) REQUIRE(*got == model[path]);
    if (model.empty()) REQUIRE(store.bytes() == 0);
  }
}

}  // namespace hvd
