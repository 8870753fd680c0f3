#include "collectives/shm_channel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "collectives/sealed_memory.h"

namespace hvd {
namespace {

constexpr std::size_t kLine = 64;  // a cache line: no two writers share one
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMapBytes = kPage + kShmRingBytes;
// Small enough that the reader starts while the writer goes on.
constexpr std::size_t kLargestWrite = kShmRingBytes / 4;

// The first page. Zeroes, as a new memfd has them, are an empty ring.
struct Indices {
  alignas(kLine) std::atomic<std::uint64_t> written;  // bytes ever, by writer
  alignas(kLine) std::atomic<std::uint64_t> read;     // bytes ever, by reader
  alignas(kLine) std::atomic<std::uint32_t> writer_sleeps;
  alignas(kLine) std::atomic<std::uint32_t> reader_sleeps;
};
static_assert(sizeof(Indices) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Error BrokenRing() {
  return {ErrorCode::kInternal, "shared ring: its indices make no sense"};
}

Indices& IndicesOf(const SealedMemory& map) {
  return *reinterpret_cast<Indices*>(map.data());
}
std::byte* BytesOf(const SealedMemory& map) { return map.data() + kPage; }

// Rings `bell` if the other side said it would sleep. Its flag was set before
// it looked at the index for the last time, and our index was stored before we
// look at the flag, all sequentially consistent: one of the two sees the other.
void WakeIfAsleep(std::atomic<std::uint32_t>& sleeps, const Doorbell& bell) {
  if (sleeps.load() == 0) return;
  sleeps.store(0);
  bell.Ring();
}

class ShmSender : public SendChannel {
 public:
  ShmSender(SealedMemory map, Doorbell peer)
      : map_(std::move(map)), peer_(std::move(peer)) {}

  Result<std::size_t> TrySend(std::span<const std::byte> bytes) override {
    Indices& indices = IndicesOf(map_);
    const std::uint64_t used = written_ - indices.read.load();
    if (used > kShmRingBytes) return BrokenRing();
    const std::size_t n = std::min<std::size_t>(
        {bytes.size(), kShmRingBytes - used, kLargestWrite});
    if (n == 0) return n;
    const std::size_t at = written_ % kShmRingBytes;
    const std::size_t first = std::min(n, kShmRingBytes - at);
    std::memcpy(BytesOf(map_) + at, bytes.data(), first);
    std::memcpy(BytesOf(map_), bytes.data() + first, n - first);
    written_ += n;
    indices.written.store(written_);
    WakeIfAsleep(indices.reader_sleeps, peer_);
    return n;
  }

  std::optional<pollfd> Arm() override {
    Indices& indices = IndicesOf(map_);
    indices.writer_sleeps.store(1);
    if (written_ - indices.read.load() != kShmRingBytes) return std::nullopt;
    return pollfd{-1, 0, 0};
  }
  void Disarm() override { IndicesOf(map_).writer_sleeps.store(0); }

 private:
  SealedMemory map_;
  Doorbell peer_;
  std::uint64_t written_ = 0;
};

class ShmReceiver : public ReceiveChannel {
 public:
  ShmReceiver(SealedMemory map, Doorbell peer)
      : map_(std::move(map)), peer_(std::move(peer)) {}

  Result<std::size_t> TryReceive(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size()) {  // twice at most: up to the end, and on
      Result<std::span<const std::byte>> piece = Peek(out.size() - done);
      if (!piece.ok()) return std::move(piece).error();
      const std::span<const std::byte> bytes = piece.value();
      if (bytes.empty()) break;
      std::memcpy(out.data() + done, bytes.data(), bytes.size());
      Consume(bytes.size());
      done += bytes.size();
    }
    return done;
  }

  Result<std::span<const std::byte>> Peek(std::size_t limit) override {
    const std::uint64_t ready = IndicesOf(map_).written.load() - read_;
    if (ready > kShmRingBytes) return BrokenRing();
    const std::size_t at = read_ % kShmRingBytes;
    const std::size_t n =
        std::min<std::size_t>({limit, ready, kShmRingBytes - at});
    return std::span<const std::byte>(BytesOf(map_) + at, n);
  }

  void Consume(std::size_t count) override {
    read_ += count;
    IndicesOf(map_).read.store(read_);
    WakeIfAsleep(IndicesOf(map_).writer_sleeps, peer_);
  }

  std::optional<pollfd> Arm() override {
    Indices& indices = IndicesOf(map_);
    indices.reader_sleeps.store(1);
    if (indices.written.load() != read_) return std::nullopt;
    return pollfd{-1, 0, 0};
  }
  void Disarm() override { IndicesOf(map_).reader_sleeps.store(0); }

 private:
  SealedMemory map_;
  Doorbell peer_;
  std::uint64_t read_ = 0;
};

}  // namespace

Result<UniqueFd> CreateShmRing() { return CreateSealed("hvd-ring", kMapBytes); }

Result<std::unique_ptr<SendChannel>> OpenShmSender(const UniqueFd& memory,
                                                   Doorbell peer) {
  Result<SealedMemory> map = SealedMemory::Map(memory, kMapBytes);
  if (!map.ok()) return std::move(map).error();
  return std::unique_ptr<SendChannel>(
      std::make_unique<ShmSender>(std::move(map).value(), std::move(peer)));
}

Result<std::unique_ptr<ReceiveChannel>> OpenShmReceiver(const UniqueFd& memory,
                                                        Doorbell peer) {
  Result<SealedMemory> map = SealedMemory::Map(memory, kMapBytes);
  if (!map.ok()) return std::move(map).error();
  return std::unique_ptr<ReceiveChannel>(
      std::make_unique<ShmReceiver>(std::move(map).value(), std::move(peer)));
}

}  // namespace hvd
