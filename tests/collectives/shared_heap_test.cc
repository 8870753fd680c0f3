#include "collectives/shared_heap.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace hvd {
namespace {

constexpr std::size_t kPage = 4096;

std::unique_ptr<SharedHeap> Heap(std::size_t pages) {
  Result<std::unique_ptr<SharedHeap>> heap = SharedHeap::Create(pages * kPage);
  REQUIRE(heap.ok());
  return std::move(heap).value();
}

}  // namespace

TEST_CASE("Pieces of a heap do not overlap and come back whole",
          "[collectives]") {
  const auto heap = Heap(8);
  void* const a = heap->Allocate(1);
  void* const b = heap->Allocate(2 * kPage);
  void* const c = heap->Allocate(5 * kPage);
  REQUIRE(a != nullptr);
  CHECK(static_cast<std::byte*>(b) - static_cast<std::byte*>(a) ==
        std::ptrdiff_t{kPage});
  REQUIRE(c != nullptr);
  CHECK(heap->Allocate(1) == nullptr);
  CHECK(heap->Free(b));
  CHECK(heap->Free(a));
  CHECK(heap->Allocate(3 * kPage) == a);  // one piece again
  CHECK(heap->Free(c));
  CHECK(heap->Free(a));
  CHECK(heap->Allocate(8 * kPage) == a);
}

TEST_CASE("What is freed is zero when it is handed out again",
          "[collectives]") {
  const auto heap = Heap(4);
  void* const piece = heap->Allocate(kPage);
  std::memset(piece, 7, kPage);
  CHECK(heap->Free(piece));
  auto* const again = static_cast<unsigned char*>(heap->Allocate(kPage));
  CHECK(again == piece);
  CHECK(again[0] == 0);
  CHECK(again[kPage - 1] == 0);
}

TEST_CASE("A heap frees only what it handed out", "[collectives]") {
  const auto heap = Heap(4);
  int elsewhere = 0;
  auto* const piece = static_cast<std::byte*>(heap->Allocate(2 * kPage));
  CHECK_FALSE(heap->Free(&elsewhere));
  CHECK_FALSE(heap->Free(nullptr));
  CHECK_FALSE(heap->Free(piece + kPage));
  CHECK(heap->Free(piece));
  CHECK_FALSE(heap->Free(piece));
  CHECK(heap->Allocate(5 * kPage) == nullptr);
}

}  // namespace hvd
