#include "collectives/world_communicator.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "collectives/chunk_parts.h"
#include "collectives/copy_bytes.h"

namespace hvd {
namespace {

Status TooLong(const char* call, std::size_t count) {
  return Error(ErrorCode::kInvalidArgument,
               std::string(call) + ": count " + std::to_string(count) +
                   " is more than memory can hold");
}

bool Fits(std::size_t count, DataType type, int copies) {
  return count <= std::numeric_limits<std::size_t>::max() / SizeOf(type) / 2 /
                      static_cast<std::size_t>(copies);
}

bool Fits(const Shares& shares, DataType type) {
  std::size_t left = std::numeric_limits<std::size_t>::max() / SizeOf(type) / 2;
  for (int rank = 0; rank < shares.ranks(); ++rank) {
    if (shares.Count(rank) > left) return false;
    left -= shares.Count(rank);
  }
  return true;
}

}  // namespace

WorldCommunicator::WorldCommunicator(Parts parts)
    : topology_(std::move(parts.topology)),
      table_(parts.table),
      table_hash_(HashOf(table_)),
      doorbell_(std::move(parts.doorbell)),
      vigil_(topology_.rank, watch_, parts.timeout),
      watch_(topology_.rank, topology_.size, std::move(parts.left),
             std::move(parts.right)) {
  if (parts.group) {
    group_.emplace(topology_, std::move(parts.group->segment),
                   std::move(parts.group->heaps), parts.group->spin, vigil_);
  }
  if (parts.ring) ring_.emplace(*std::move(parts.ring), doorbell_, vigil_);
  if (parts.rail) rail_.emplace(*std::move(parts.rail), doorbell_, vigil_);
  if (parts.doubling) {
    doubling_.emplace(topology_.host, *std::move(parts.doubling), doorbell_,
                      vigil_);
  }
  vigil_.LookAroundWith([this] { return LookAround(); });
  watch_.Start([this] { WakeCaller(); }, group_ ? &group_->life() : nullptr);
}

WorldCommunicator::~WorldCommunicator() { watch_.Leave(vigil_.completed()); }

void WorldCommunicator::WakeCaller() const {
  doorbell_.Ring();
  if (group_) group_->WakeCaller();
}

void WorldCommunicator::Abort(CommFailure failure) {
  watch_.Propose(std::move(failure));
}

void WorldCommunicator::Declare(CommFailure failure) {
  watch_.Declare(std::move(failure));
}

Status WorldCommunicator::Enter(CallHeader call, std::size_t bytes) {
  call.table = table_hash_;
  ledger_.Begin(call.call, bytes);
  return vigil_.Enter(call);
}

void WorldCommunicator::ShowHost() {
  if (group_) group_->EnterWithSmall(nullptr, 0);
}

Status WorldCommunicator::Finish(Status status) {
  if (!status.ok()) return status;
  vigil_.Complete();
  ledger_.End();
  return status;
}

Status WorldCommunicator::LookAround() {
  Status fits = Done{};
  if (group_) fits = group_->LookAround();
  if (fits.ok() && ring_) fits = ring_->LookForStrays();
  if (fits.ok() && rail_) fits = rail_->LookForStrays();
  if (fits.ok() && doubling_) fits = doubling_->LookForStrays();
  return fits;
}

// ---- allreduce, barrier -----------------------------------------------------

Status WorldCommunicator::AllReduce(const void* in, void* out,
                                    std::size_t count, DataType type,
                                    ReduceOp op) {
  if (!Fits(count, type, 1)) return TooLong("allreduce", count);
  const Reduction what{in,   out, count,
                       type, op,  op == ReduceOp::kAverage ? size() : 1};
  const CallHeader call{
      .count = count, .call = Call::kAllReduce, .type = type, .op = op};
  const std::size_t bytes = count * SizeOf(type);
  if (Status s = Enter(call, bytes); !s.ok()) return s;
  if (!one_host()) return Finish(ReduceBetweenHosts(what));
  return Finish(bytes <= table_.one_shot
                    ? LocalReduceSmall(*group_, what, KernelForm::kPlain)
                    : LocalAllReduce(*group_, table_, what));
}

Status WorldCommunicator::Barrier() {
  if (Status s = Enter({}, 0); !s.ok()) return s;
  return Finish(one_host() ? LocalReduceSmall(*group_, {}, KernelForm::kPlain)
                           : ReduceSmallBetweenHosts({}));
}

Status WorldCommunicator::ReduceBetweenHosts(const Reduction& what) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t bytes = what.count * element;
  if (bytes <= table_.doubling && FitsSlot(bytes)) {
    return ReduceSmallBetweenHosts(what);
  }
  if (!rail_ && !group_) return RingAllReduce(*ring_, InRing(), what);
  ShowHost();
  if (group_) {
    if (Status s = group_->AwaitEntries(); !s.ok()) return s;
  }
  const std::size_t per_slab = std::max(table_.slab / element, kLine);
  for (std::size_t at = 0; at < what.count; at += per_slab) {
    Reduction slab = what;
    slab.in = At(what.in, at * element);
    slab.out = At(what.out, at * element);
    slab.count = std::min(per_slab, what.count - at);
    if (Status s = ReduceSlab(slab); !s.ok()) return s;
  }
  return Done{};
}

// A host's ranks combine their arrays for its first one, which combines that
// with the other hosts' and hands out the result.
Status WorldCommunicator::ReduceSmallBetweenHosts(const Reduction& what) {
  const DataType wide = IsNarrow(what.type) ? DataType::kFloat32 : what.type;
  const std::size_t bytes = what.count * SizeOf(what.type);
  wide_.resize(what.count * SizeOf(wide));
  if (group_) {
    EnterWithSlot(*group_, what.in, bytes);
    if (topology_.local != 0) {
      Status s =
          group_->AwaitMark(0, &Member::published, vigil_.call().operation);
      if (s.ok() && bytes > 0) {
        CopyBytes(what.out, group_->segment().slot(0, group_->operation()),
                  bytes);
      }
      return s;
    }
    if (Status s = group_->AwaitEntries(); !s.ok()) return s;
  }
  if (group_ && bytes > 0) {
    for (int local = 0; local < group_->size(); ++local) {
      group_->arrays()[Index(local)] = SlotOf(*group_, local, bytes);
    }
    Reduce(KernelForm::kWiden, wide_.data(), group_->arrays(), what.count,
           what.type, what.op);
  } else if (bytes > 0) {
    Reduce(KernelForm::kWiden, wide_.data(), std::span(&what.in, 1), what.count,
           what.type, what.op);
  }
  Status met = doubling_->AllReduce(wide_.data(), what.count, wide, what.op);
  if (!met.ok()) return met;
  if (bytes > 0) {
    const void* const sum = wide_.data();
    Reduce(KernelForm::kJoin, what.out, std::span(&sum, 1), what.count,
           what.type, what.op, what.divisor);
  }
  if (!group_) return met;
  if (bytes > 0) {
    CopyBytes(group_->segment().slot(0, group_->operation()), what.out, bytes);
  }
  group_->Set(&Member::published, group_->operation());
  return met;
}

// Every host combines its arrays, each of its first ranks a slice; those with
// the same slice combine it round their ring; and each hands it out.
Status WorldCommunicator::ReduceSlab(const Reduction& what) {
  const int owners = topology_.rails();
  const std::size_t element = SizeOf(what.type);
  const bool owner = topology_.local < owners;
  const Slice slice =
      owner ? SliceOf(what.count, element, owners, topology_.local) : Slice{};
  std::byte* const out = At(what.out, slice.begin * element);
  void* partial = out;
  if (IsNarrow(what.type)) {
    wide_.resize(slice.count * sizeof(float));
    partial = wide_.data();
  }
  if (group_) {
    Status s = LocalReduceToOwners(*group_, what, partial, owners);
    if (!s.ok()) return s;
  } else {
    Reduce(KernelForm::kWiden, partial, std::span(&what.in, 1), slice.count,
           what.type, what.op);
  }
  if (owner) {
    Reduction mine = what;
    mine.out = out;
    mine.count = slice.count;
    Status s = RingAllReducePartials(
        *rail_, {topology_.host, topology_.host_count()}, partial, mine);
    if (!s.ok()) return s;
  }
  if (!group_) return Done{};
  return LocalGatherFromOwners(*group_, what.out, what.count, element, owners);
}

// ---- the others -------------------------------------------------------------

Status WorldCommunicator::ReduceScatter(const void* in, void* out,
                                        std::size_t count, DataType type,
                                        ReduceOp op) {
  if (!Fits(count, type, size())) return TooLong("reduce-scatter", count);
  const CallHeader call{
      .count = count, .call = Call::kReduceScatter, .type = type, .op = op};
  const std::size_t bytes = count * SizeOf(type);
  if (Status s = Enter(call, bytes * Index(size())); !s.ok()) return s;
  const Reduction what{in,   out, count,
                       type, op,  op == ReduceOp::kAverage ? size() : 1};
  if (one_host()) return Finish(LocalReduceScatter(*group_, what));
  ShowHost();
  if (count == 0) return Finish(ring_->PassTokens(size()));
  return Finish(RingReduceScatter(*ring_, InRing(), what));
}

Status WorldCommunicator::AllGather(const void* in, void* out,
                                    const Shares& shares, DataType type) {
  if (!Fits(shares, type)) return TooLong("allgather", shares.Longest());
  const CallHeader call{
      .count = shares.even() ? shares.Count(0) : shares.Total(),
      .shape = shares.even() ? 0 : ShapeOf(shares.counts()),
      .call = Call::kAllGather,
      .type = type};
  const std::size_t element = SizeOf(type);
  if (Status s = Enter(call, shares.Count(rank()) * element); !s.ok()) return s;
  if (one_host()) {
    return Finish(LocalAllGather(*group_, table_, in, out, shares, element));
  }
  ShowHost();
  if (shares.Longest() == 0) return Finish(ring_->PassTokens(size()));
  // A rank without a part would see no byte of some other rank.
  if (!shares.even()) {
    if (Status s = ring_->PassTokens(size()); !s.ok()) return s;
    return Finish(RingAllGather(*ring_, InRing(), in, out, shares, element,
                                Announce::kBefore));
  }
  return Finish(RingAllGather(*ring_, InRing(), in, out, shares, element,
                              Announce::kHere));
}

Status WorldCommunicator::Broadcast(void* data, std::size_t count,
                                    DataType type, int root) {
  if (!Fits(count, type, 1)) return TooLong("broadcast", count);
  if (root < 0 || root >= size()) {
    return Error(ErrorCode::kInvalidArgument,
                 "broadcast: root must be 0 to " + std::to_string(size() - 1) +
                     ", got " + std::to_string(root));
  }
  const CallHeader call{
      .count = count, .root = root, .call = Call::kBroadcast, .type = type};
  const std::size_t bytes = count * SizeOf(type);
  if (Status s = Enter(call, bytes); !s.ok()) return s;
  if (one_host()) {
    return Finish(LocalBroadcast(*group_, table_, data, bytes, root));
  }
  ShowHost();
  return Finish(RingBroadcast(*ring_, InRing(), data, bytes, root));
}

Status WorldCommunicator::AllToAll(const void* in, const Shares& sent,
                                   void* out, const Shares& received,
                                   DataType type) {
  if (!Fits(sent, type)) return TooLong("alltoall", sent.Longest());
  if (!Fits(received, type)) return TooLong("alltoall", received.Longest());
  const std::size_t element = SizeOf(type);
  if (Status s = Enter({.call = Call::kAllToAll, .type = type},
                       sent.Total() * element);
      !s.ok()) {
    return s;
  }
  if (Status s = ExchangeCounts(sent, received); !s.ok()) return s;
  if (one_host()) {
    return Finish(LocalAllToAll(*group_, in, out, counts_, element));
  }
  return Finish(RingAllToAll(*ring_, InRing(), in, out, counts_, element));
}

// Afterwards counts_[from * size() + to] is what `from` sends to `to`. Every
// rank also says what it expects, and all find the same first difference.
Status WorldCommunicator::ExchangeCounts(const Shares& sent,
                                         const Shares& received) {
  const std::size_t ranks = Index(size());
  std::vector<std::size_t> mine;
  for (int r = 0; r < size(); ++r) mine.push_back(sent.Count(r));
  for (int r = 0; r < size(); ++r) mine.push_back(received.Count(r));
  std::vector<std::size_t> all(ranks * mine.size());
  const Shares each(mine.size() * sizeof(std::size_t), size());
  if (!one_host()) ShowHost();
  Status gathered =
      one_host()
          ? LocalAllGather(*group_, table_, mine.data(), all.data(), each, 1)
          : RingAllGather(*ring_, InRing(), mine.data(), all.data(), each, 1,
                          Announce::kHere);
  if (!gathered.ok()) return gathered;
  counts_.resize(ranks * ranks);
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const std::size_t sends = all[from * 2 * ranks + to];
      const std::size_t expects = all[to * 2 * ranks + ranks + from];
      counts_[from * ranks + to] = sends;
      if (sends == expects) continue;
      (void)vigil_.Fail({-1, ErrorCode::kInvalidArgument,
                         "ranks disagree: in operation " +
                             std::to_string(vigil_.call().operation) +
                             " (alltoall) rank " + std::to_string(from) +
                             " sends " + std::to_string(sends) +
                             " elements to rank " + std::to_string(to) +
                             ", which expects " + std::to_string(expects)});
      return vigil_.AwaitVerdict();
    }
  }
  return Done{};
}

}  // namespace hvd
