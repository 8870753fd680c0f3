#include "collectives/shm_channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hvd {
namespace {

constexpr std::size_t kLine = 64;  // a cache line: no two writers share one
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMapBytes = kPage + kShmRingBytes;
// Small enough that the reader starts while the writer goes on.
constexpr std::size_t kLargestWrite = kShmRingBytes / 4;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

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

class Mapping {
 public:
  explicit Mapping(void* address) : address_(address) {}
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (address_ != nullptr) ::munmap(address_, kMapBytes);
  }

  Indices& indices() const { return *static_cast<Indices*>(address_); }
  std::byte* bytes() const { return static_cast<std::byte*>(address_) + kPage; }

 private:
  void* address_;
};

// A sealed size is what makes it safe to touch memory another process gave.
Result<Mapping> Map(const UniqueFd& memory) {
  struct stat info {};
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (::fstat(memory.get(), &info) != 0 || seals < 0 ||
      (seals & kSeals) != kSeals || info.st_size != off_t{kMapBytes}) {
    return Error(ErrorCode::kInvalidArgument,
                 "shared ring: not a sealed memfd of the agreed size");
  }
  void* const address = ::mmap(nullptr, kMapBytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED, memory.get(), 0);
  if (address == MAP_FAILED) return Error::FromErrno("map shared ring", errno);
  return Mapping(address);
}

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
  ShmSender(Mapping map, Doorbell peer)
      : map_(std::move(map)), peer_(std::move(peer)) {}

  Result<std::size_t> TrySend(std::span<const std::byte> bytes) override {
    Indices& indices = map_.indices();
    const std::uint64_t used = written_ - indices.read.load();
    if (used > kShmRingBytes) return BrokenRing();
    const std::size_t n = std::min<std::size_t>(
        {bytes.size(), kShmRingBytes - used, kLargestWrite});
    if (n == 0) return n;
    const std::size_t at = written_ % kShmRingBytes;
    const std::size_t first = std::min(n, kShmRingBytes - at);
    std::memcpy(map_.bytes() + at, bytes.data(), first);
    std::memcpy(map_.bytes(), bytes.data() + first, n - first);
    written_ += n;
    indices.written.store(written_);
    WakeIfAsleep(indices.reader_sleeps, peer_);
    return n;
  }

  std::optional<pollfd> Arm() override {
    Indices& indices = map_.indices();
    indices.writer_sleeps.store(1);
    if (written_ - indices.read.load() != kShmRingBytes) return std::nullopt;
    return pollfd{-1, 0, 0};
  }
  void Disarm() override { map_.indices().writer_sleeps.store(0); }

 private:
  Mapping map_;
  Doorbell peer_;
  std::uint64_t written_ = 0;
};

class ShmReceiver : public ReceiveChannel {
 public:
  ShmReceiver(Mapping map, Doorbell peer)
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
    const std::uint64_t ready = map_.indices().written.load() - read_;
    if (ready > kShmRingBytes) return BrokenRing();
    const std::size_t at = read_ % kShmRingBytes;
    const std::size_t n =
        std::min<std::size_t>({limit, ready, kShmRingBytes - at});
    return std::span<const std::byte>(map_.bytes() + at, n);
  }

  void Consume(std::size_t count) override {
    read_ += count;
    map_.indices().read.store(read_);
    WakeIfAsleep(map_.indices().writer_sleeps, peer_);
  }

  std::optional<pollfd> Arm() override {
    Indices& indices = map_.indices();
    indices.reader_sleeps.store(1);
    if (indices.written.load() != read_) return std::nullopt;
    return pollfd{-1, 0, 0};
  }
  void Disarm() override { map_.indices().reader_sleeps.store(0); }

 private:
  Mapping map_;
  Doorbell peer_;
  std::uint64_t read_ = 0;
};

}  // namespace

Result<UniqueFd> CreateShmRing() {
  UniqueFd memory(::memfd_create("hvd-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return Error::FromErrno("memfd_create", errno);
  if (::ftruncate(memory.get(), off_t{kMapBytes}) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) {
    return Error::FromErrno("size and seal shared ring", errno);
  }
  return memory;
}

Result<std::unique_ptr<SendChannel>> OpenShmSender(const UniqueFd& memory,
                                                   Doorbell peer) {
  Result<Mapping> map = Map(memory);
  if (!map.ok()) return std::move(map).error();
  return std::unique_ptr<SendChannel>(
      std::make_unique<ShmSender>(std::move(map).value(), std::move(peer)));
}

Result<std::unique_ptr<ReceiveChannel>> OpenShmReceiver(const UniqueFd& memory,
                                                        Doorbell peer) {
  Result<Mapping> map = Map(memory);
  if (!map.ok()) return std::move(map).error();
  return std::unique_ptr<ReceiveChannel>(
      std::make_unique<ShmReceiver>(std::move(map).value(), std::move(peer)));
}

}  // namespace hvd
