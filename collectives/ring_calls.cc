#include "collectives/ring_calls.h"

#include <algorithm>
#include <array>
#include <vector>

#include "collectives/chunk_parts.h"
#include "collectives/copy_bytes.h"
#include "collectives/ring_schedule.h"

namespace hvd {
namespace {

// How much of each part a slab of a reduce-scatter or an alltoall takes, so
// that what is under way fits into little memory.
constexpr std::size_t kSlab = std::size_t{256} << 10U;

// The pieces of an allreduce of `what.out`, of which one's own part stands at
// `own` in elements of `own_size` bytes.
void AddAllReduce(Flow& flow, RingPlace at, const void* own,
                  std::size_t own_size, const void* first_sent,
                  const Reduction& what) {
  const std::size_t element = SizeOf(what.type);
  flow.type = what.type;
  flow.op = what.op;
  flow.divisor = what.divisor;
  flow.own_size = own_size;
  for (int step = 0; step < AllReduceSteps(at.size); ++step) {
    const RingStep plan = AllReduceStep(at.place, at.size, step);
    const Chunk send = ChunkOf(what.count, at.size, plan.send);
    const Chunk receive = ChunkOf(what.count, at.size, plan.receive);
    // What goes out first is one's own; all else has come in before.
    flow.sends.push_back(
        {At(step == 0 ? first_sent : what.out, send.begin * element),
         send.count * element});
    flow.receives.push_back({At(what.out, receive.begin * element),
                             receive.count * element, plan.on_receipt,
                             At(own, receive.begin * own_size)});
    if (step == 0) flow.head += Padded(send.count * element);
  }
}

// The elements that slab `number` takes of `count`.
Slice SlabOf(std::size_t count, std::size_t per_slab, std::size_t number) {
  return Piece(count, per_slab, number);
}

// One slab of a reduce-scatter in elements of `type`: the parts lie at `in`,
// each `stride` bytes after the one before.
void AddReduceScatter(Flow& flow, RingPlace at, const std::byte* in,
                      std::size_t stride, std::byte* passing,
                      const Reduction& what) {
  const std::size_t bytes = what.count * SizeOf(what.type);
  flow.type = what.type;
  flow.op = what.op;
  flow.divisor = what.divisor;
  flow.own_size = SizeOf(what.type);
  const std::byte* sent = in + Index(LeftOf(at.place, at.size)) * stride;
  for (int step = 0; step < at.size - 1; ++step) {
    const bool last = step == at.size - 2;
    const int part = (at.place - step - 2 + 2 * at.size) % at.size;
    std::byte* const to = last ? static_cast<std::byte*>(what.out)
                               : passing + Index(step) * bytes;
    flow.sends.push_back({sent, bytes});
    flow.receives.push_back(
        {to, bytes, last ? OnReceipt::kCombineLast : OnReceipt::kCombine,
         in + Index(part) * stride});
    sent = to;
  }
  flow.head += Padded(bytes);
}

}  // namespace

Status RingAllReduce(RingRunner& ring, RingPlace at, const Reduction& what) {
  AddAllReduce(ring.NewFlowWithCall(), at, what.in, SizeOf(what.type), what.in,
               what);
  return ring.Run();
}

Status RingAllReducePartials(RingRunner& ring, RingPlace at,
                             const void* partial, const Reduction& what) {
  const std::size_t element = SizeOf(what.type);
  const std::size_t wide = OutputSize(KernelForm::kWiden, what.type);
  const void* first_sent = partial;
  if (IsNarrow(what.type)) {
    // This host's one rounding of what it sends first.
    const Chunk first =
        ChunkOf(what.count, at.size, AllReduceStep(at.place, at.size, 0).send);
    const void* const from = At(partial, first.begin * wide);
    Reduce(KernelForm::kJoin, At(what.out, first.begin * element),
           std::span(&from, 1), first.count, what.type, what.op);
    first_sent = what.out;
  }
  AddAllReduce(ring.NewFlowWithCall(), at, partial, wide, first_sent, what);
  return ring.Run();
}

Status RingReduceScatter(RingRunner& ring, RingPlace at,
                         const Reduction& what) {
  const bool narrow = IsNarrow(what.type);
  const DataType type = narrow ? DataType::kFloat32 : what.type;
  const std::size_t element = SizeOf(what.type);
  const std::size_t wide = SizeOf(type);
  const std::size_t per_slab = kSlab / wide;
  const std::size_t slab_bytes = std::min(per_slab, what.count) * wide;
  std::vector<std::byte> passing(Index(at.size - 2) * slab_bytes);
  std::vector<std::byte> widened(narrow ? Index(at.size) * slab_bytes : 0);
  std::vector<std::byte> result(narrow ? slab_bytes : 0);
  for (std::size_t k = 0; k * per_slab < what.count; ++k) {
    const Slice slab = SlabOf(what.count, per_slab, k);
    Reduction part{nullptr,    At(what.out, slab.begin * element),
                   slab.count, type,
                   what.op,    what.divisor};
    const std::byte* in = At(what.in, slab.begin * element);
    std::size_t stride = what.count * element;
    if (narrow) {
      for (int to = 0; to < at.size; ++to) {
        const void* const from = in + Index(to) * stride;
        Reduce(KernelForm::kWiden, widened.data() + Index(to) * slab_bytes,
               std::span(&from, 1), slab.count, what.type, what.op);
      }
      in = widened.data();
      stride = slab_bytes;
      part.out = result.data();
    }
    AddReduceScatter(k == 0 ? ring.NewFlowWithCall() : ring.NewFlow(), at, in,
                     stride, passing.data(), part);
    if (Status s = ring.Run(); !s.ok()) return s;
    if (narrow) {
      const void* const from = result.data();
      Reduce(KernelForm::kJoin, At(what.out, slab.begin * element),
             std::span(&from, 1), slab.count, what.type, what.op);
    }
  }
  return Done{};
}

Status RingAllGather(RingRunner& ring, RingPlace at, const void* in, void* out,
                     const Shares& shares, std::size_t element,
                     Announce announce) {
  const auto part = [&](int place) {
    return At(out, shares.Begin(place) * element);
  };
  const std::size_t own = shares.Count(at.place) * element;
  if (own > 0 && part(at.place) != in) MoveBytes(part(at.place), in, own);
  Flow& flow =
      announce == Announce::kHere ? ring.NewFlowWithCall() : ring.NewFlow();
  for (int step = 0; step < AllGatherSteps(at.size); ++step) {
    const RingStep plan = AllGatherStep(at.place, at.size, step);
    flow.sends.push_back({part(plan.send), shares.Count(plan.send) * element});
    flow.receives.push_back(
        {part(plan.receive), shares.Count(plan.receive) * element});
  }
  flow.head += Padded(own);
  return ring.Run();
}

Status RingBroadcast(RingRunner& ring, RingPlace at, void* data,
                     std::size_t bytes, int root) {
  // First all agree, then the array goes from root to root's left neighbour.
  Status agreed = ring.PassTokens(at.size);
  if (!agreed.ok() || bytes == 0) return agreed;
  Flow& flow = ring.NewFlow();
  if (RightOf(at.place, at.size) != root) flow.sends.push_back({data, bytes});
  if (at.place != root) flow.receives.push_back({data, bytes});
  if (at.place == root) flow.head = Padded(bytes);
  return ring.Run();
}

// Each rank's slab for all others goes round; whoever it passes takes its part
// off the front and sends on the rest.
Status RingAllToAll(RingRunner& ring, RingPlace at, const void* in, void* out,
                    std::span<const std::size_t> matrix, std::size_t element) {
  const auto count = [&](int from, int to) {
    return matrix[Index(from) * Index(at.size) + Index(to)];
  };
  const auto begin_in = [&](int to) {
    std::size_t before = 0;
    for (int i = 0; i < to; ++i) before += count(at.place, i);
    return before;
  };
  const auto begin_out = [&](int from) {
    std::size_t before = 0;
    for (int i = 0; i < from; ++i) before += count(i, at.place);
    return before;
  };
  MoveBytes(At(out, begin_out(at.place) * element),
            At(in, begin_in(at.place) * element),
            count(at.place, at.place) * element);
  const std::size_t longest = *std::max_element(matrix.begin(), matrix.end());
  const std::size_t per_slab = std::max<std::size_t>(kSlab / element, 1);
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
  for (std::size_t k = 0; k * per_slab < longest; ++k) {
    const auto slab = [&](int from, int to) {
      return SlabOf(count(from, to), per_slab, k);
    };
    sent.clear();
    for (int distance = 1; distance < at.size; ++distance) {
      const int to = (at.place + distance) % at.size;
      const Slice piece = slab(at.place, to);
      const std::byte* const from =
          At(in, (begin_in(to) + piece.begin) * element);
      sent.insert(sent.end(), from, from + piece.count * element);
    }
    for (int step = 1; step < at.size; ++step) {
      const int from = (at.place - step + at.size) % at.size;
      std::size_t incoming = 0;
      for (int distance = step; distance < at.size; ++distance) {
        incoming += slab(from, (from + distance) % at.size).count * element;
      }
      received.resize(incoming);
      Flow& flow = ring.NewFlow();
      flow.sends.push_back({sent.data(), sent.size()});
      flow.receives.push_back({received.data(), received.size()});
      flow.head = Padded(sent.size());
      if (Status s = ring.Run(); !s.ok()) return s;
      const Slice mine = slab(from, at.place);
      CopyBytes(At(out, (begin_out(from) + mine.begin) * element),
                received.data(), mine.count * element);
      sent.assign(received.begin() + static_cast<long>(mine.count * element),
                  received.end());
    }
  }
  return Done{};
}

}  // namespace hvd
