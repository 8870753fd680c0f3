#include "collectives/local_segment.h"

#include <utility>

namespace hvd {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t Rounded(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t Index(int i) { return static_cast<std::size_t>(i); }

std::size_t PlaceBytes(int members, std::size_t chunk) {
  return Rounded(chunk + Index(members) * kLine);
}

// An entry is followed by its slot. Processors fetch lines in pairs: the slot's
// first line comes with the entry.
constexpr std::size_t kEntryStride = 2 * kLine + kSlotBytes;

// The areas, one after the other.
struct Layout {
  Layout(int members, std::size_t chunk)
      : entries(Rounded(kLine + Index(members) * sizeof(Member))),
        places(entries + Rounded(2 * Index(members) * kEntryStride)),
        end(places + 2 * Index(members) * PlaceBytes(members, chunk)) {}

  std::size_t entries;
  std::size_t places;
  std::size_t end;
};

}  // namespace

Result<UniqueFd> LocalSegment::Create(int members, std::size_t chunk) {
  return CreateSealed("hvd-group", Layout(members, chunk).end);
}

Result<LocalSegment> LocalSegment::Open(const UniqueFd& memory, int members,
                                        std::size_t chunk) {
  Result<SealedMemory> map =
      SealedMemory::Map(memory, Layout(members, chunk).end);
  if (!map.ok()) return std::move(map).error();
  return LocalSegment(std::move(map).value(), members, chunk);
}

std::atomic<std::uint32_t>& LocalSegment::sleepers() const {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.data());
}

Member& LocalSegment::member(int local) const {
  return reinterpret_cast<Member*>(memory_.data() + kLine)[local];
}

Entry& LocalSegment::entry(int local, std::uint64_t operation) const {
  return *reinterpret_cast<Entry*>(
      memory_.data() + Layout(members_, chunk_).entries +
      (Index(local) * 2 + operation % 2) * kEntryStride);
}

std::byte* LocalSegment::slot(int local, std::uint64_t operation) const {
  return reinterpret_cast<std::byte*>(&entry(local, operation)) + kLine;
}

std::byte* LocalSegment::place(int local, std::uint64_t chunk) const {
  return memory_.data() + Layout(members_, chunk_).places +
         (Index(local) * 2 + chunk % 2) * PlaceBytes(members_, chunk_);
}

}  // namespace hvd
