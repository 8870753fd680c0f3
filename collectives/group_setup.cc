#include "collectives/group_setup.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd_passing.h"
#include "collectives/handshake_io.h"

namespace hvd {
namespace {

// Ahead of the descriptors: how many there are, at most so many to a message.
using Header = std::uint32_t;

std::size_t Index(int i) { return static_cast<std::size_t>(i); }

// Maps all heaps but the one of `local`, which this process has.
Result<HeapMap> MapHeaps(std::span<const UniqueFd> fds, int local,
                         const SharedHeap* own) {
  HeapMap map;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (i == Index(local)) {
      map.heaps.push_back(own->memory());
      continue;
    }
    Result<std::size_t> size = SealedSize(fds[i]);
    if (!size.ok()) return std::move(size).error();
    Result<SealedMemory> heap = SealedMemory::Map(fds[i], size.value());
    if (!heap.ok()) return std::move(heap).error();
    map.heaps.emplace_back(heap.value().data(), heap.value().size());
    map.mapped.push_back(std::move(heap).value());
  }
  return map;
}

Result<SharedGroup> Assemble(const UniqueFd& segment, int members,
                             const Selection& table,
                             std::span<const UniqueFd> heaps, int local,
                             const SharedHeap* own) {
  Result<LocalSegment> opened =
      LocalSegment::Open(segment, members, table.chunk);
  if (!opened.ok()) return std::move(opened).error();
  Result<HeapMap> map = MapHeaps(heaps, local, own);
  if (!map.ok()) return std::move(map).error();
  return SharedGroup{std::move(opened).value(), std::move(map).value()};
}

Status SendDescriptors(int socket, std::span<const int> fds) {
  const auto count = static_cast<Header>(fds.size());
  std::string_view bytes{reinterpret_cast<const char*>(&count), sizeof(count)};
  while (!fds.empty()) {
    const std::size_t some = std::min(fds.size(), kMaxPassedFds);
    if (Status s = SendWithFds(socket, bytes, fds.first(some)); !s.ok()) {
      return s;
    }
    fds = fds.subspan(some);
    bytes = ".";  // a descriptor needs a byte to ride on
  }
  return Done{};
}

Error GivenUp() {
  return {ErrorCode::kCancelled, "forming the world was given up"};
}

bool HungUp(int socket) {
  pollfd polled{socket, 0, 0};
  return ::poll(&polled, 1, 0) > 0 && (polled.revents & POLLHUP) != 0;
}

// What `error` amounts to. If it is because the mate at the other end of
// `socket` has died, an elastic job goes on without this world, as hvdrun will
// say; if it says nothing, the error stands.
Error OrGivenUp(Error error, int socket, const LinkTerms& terms) {
  if (terms.cancel_fd < 0 || !HungUp(socket)) return error;
  for (;;) {
    const auto left =
        std::chrono::ceil<Duration>(terms.deadline - SteadyClock().Now());
    if (left.count() <= 0) return error;
    pollfd cancel{terms.cancel_fd, POLLIN, 0};
    if (::poll(&cancel, 1, static_cast<int>(left.count())) > 0) {
      return GivenUp();
    }
  }
}

// kTimeout, kCancelled: see LinkTerms.
Status AwaitBytes(int socket, int from, const LinkTerms& terms) {
  const auto left =
      std::chrono::ceil<Duration>(terms.deadline - SteadyClock().Now());
  std::array<pollfd, 2> polled{pollfd{terms.cancel_fd, POLLIN, 0},
                               pollfd{socket, POLLIN, 0}};
  const int n = left.count() <= 0 ? 0
                                  : ::poll(polled.data(), polled.size(),
                                           static_cast<int>(left.count()));
  if (n == 0) {
    return Error(ErrorCode::kTimeout,
                 "rank " + std::to_string(from) +
                     " did not hand out the host's shared memory");
  }
  if (polled[0].revents != 0) return GivenUp();
  return Done{};
}

Result<std::vector<UniqueFd>> ReceiveDescriptors(int socket, int from,
                                                 const LinkTerms& terms) {
  std::vector<UniqueFd> fds;
  Header count = 0;
  std::size_t have = 0;  // bytes of count
  while (have < sizeof(count) || fds.size() < count) {
    if (Status s = AwaitBytes(socket, from, terms); !s.ok()) {
      return std::move(s).error();
    }
    std::array<char, sizeof(Header)> bytes{};
    const std::size_t room =
        have < sizeof(count) ? sizeof(count) - have : std::size_t{1};
    Result<std::size_t> n =
        ReceiveWithFds(socket, std::span(bytes).first(room), fds);
    if (!n.ok()) {
      return OrGivenUp(
          std::move(n).error().Wrap("receive the host's shared memory"), socket,
          terms);
    }
    if (have >= sizeof(count)) continue;
    std::memcpy(reinterpret_cast<char*>(&count) + have, bytes.data(),
                n.value());
    have += n.value();
  }
  return fds;
}

}  // namespace

Result<SharedGroup> HandOutGroup(std::vector<Link> mates,
                                 const Selection& table, const SharedHeap* heap,
                                 const LinkTerms& terms) {
  const int members = static_cast<int>(mates.size()) + 1;
  Result<UniqueFd> segment = LocalSegment::Create(members, table.chunk);
  if (!segment.ok()) return std::move(segment).error();
  const bool all_have_heaps =
      heap != nullptr &&
      std::all_of(mates.begin(), mates.end(),
                  [](const Link& link) { return link.fds.size() == 1; });
  std::vector<UniqueFd> heaps;
  std::vector<int> fds{segment.value().get()};
  if (all_have_heaps) {
    heaps.emplace_back();  // one's own, mapped already
    fds.push_back(heap->fd());
    for (Link& mate : mates) {
      heaps.push_back(std::move(mate.fds[0]));
      fds.push_back(heaps.back().get());
    }
  }
  for (const Link& mate : mates) {
    if (Status s = SendDescriptors(mate.socket.get(), fds); !s.ok()) {
      return OrGivenUp(
          std::move(s).error().Wrap("hand out the host's shared memory"),
          mate.socket.get(), terms);
    }
  }
  return Assemble(segment.value(), members, table, heaps, 0, heap);
}

Result<SharedGroup> ReceiveGroup(Link first, const Topology& topology,
                                 const Selection& table, const SharedHeap* heap,
                                 const LinkTerms& terms) {
  Result<std::vector<UniqueFd>> received =
      ReceiveDescriptors(first.socket.get(), topology.mates().front(), terms);
  if (!received.ok()) return std::move(received).error();
  const std::vector<UniqueFd>& fds = received.value();
  const std::size_t members = topology.mates().size();
  if (fds.size() != 1 && (fds.size() != 1 + members || heap == nullptr)) {
    return Error(ErrorCode::kUnavailable,
                 "the host's shared memory came in another form than agreed");
  }
  return Assemble(fds[0], static_cast<int>(members), table,
                  std::span(fds).subspan(1), topology.local, heap);
}

}  // namespace hvd
