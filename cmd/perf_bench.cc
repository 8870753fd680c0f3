#include "cmd/perf_bench.h"

#include <hvd/hvd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "cmd/perf_data.h"

namespace hvd {
namespace {

// What Measure wants of a group of ranks.
struct World {
  static void Barrier() { hvd::Barrier(); }
  static void MaxOverRanks(double* values, std::size_t count) {
    AllReduce(values, count, ReduceOp::kMax);
  }
};

}  // namespace

// How many elements go in and out of one call on one rank.
struct PerfBench::Shape {
  std::size_t count;  // the call's own
  std::size_t in;
  std::size_t out;
};

// An array, in a heap or not, all of it touched.
struct PerfBench::Memory {
  Memory(std::size_t bytes, bool is_registered)
      : registered(is_registered),
        data(static_cast<std::byte*>(
            registered ? Alloc(bytes)
                       : std::aligned_alloc(4096, (bytes / 4096 + 1) * 4096))) {
    if (data == nullptr) throw std::bad_alloc();
    std::fill_n(data, bytes, std::byte{0});
  }
  ~Memory() {
    if (registered) {
      Free(data);
    } else {
      std::free(data);
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  bool registered;
  std::byte* data;
};

PerfBench::PerfBench(const PerfOptions& options) : options_(options) {}
PerfBench::~PerfBench() = default;

PerfRow PerfBench::Run(std::size_t bytes) {
  const auto ranks = static_cast<std::size_t>(Size());
  const std::size_t element = PerfElementSize(options_.type);
  const bool whole = options_.op == "allreduce" || options_.op == "broadcast";
  const std::size_t count =
      std::max<std::size_t>(bytes / element / (whole ? 1 : ranks), 1);
  Shape shape{count, count, count};
  if (options_.op == "allgather" || options_.op == "alltoall") {
    shape.out = count * ranks;
  }
  if (options_.op == "reduce_scatter" || options_.op == "alltoall") {
    shape.in = count * ranks;
  }
  const std::size_t size = std::max(shape.in, shape.out) * element;
  const Memory in(size, options_.registered);
  const Memory out(size, options_.registered);
  PerfRow row{size, count, {}, {}};
  row.out_of_place = RunPlaced(shape, in.data, out.data, size);
  // In place: where the shorter of the two is a part of the longer one.
  const auto rank = static_cast<std::size_t>(Rank());
  std::byte* in_place = out.data;
  std::byte* out_place = out.data;
  if (shape.in < shape.out) in_place += rank * shape.in * element;
  if (shape.out < shape.in) out_place += rank * shape.out * element;
  row.in_place = RunPlaced(shape, in_place, out_place, size);
  return row;
}

PerfResult PerfBench::RunPlaced(const Shape& shape, std::byte* in,
                                std::byte* out, std::size_t bytes) {
  World world;
  PerfResult result;
  result.times =
      perf::Measure(world, in, shape.in * PerfElementSize(options_.type),
                    options_.iterations.value_or(perf::IterationsFor(bytes)),
                    [&] { Call(shape, in, out); });
  SetBandwidths(result, options_.op, Size(), bytes);
  if (options_.check) result.wrong = CountWrong(shape, in, out);
  return result;
}

void PerfBench::Call(const Shape& shape, const void* in, void* out) const {
  const DataType type = PerfType(options_.type);
  if (options_.op == "allreduce") {
    AllReduce(in, out, shape.count, type, PerfReduction(options_.reduction));
  } else if (options_.op == "reduce_scatter") {
    ReduceScatter(in, out, shape.count, type,
                  PerfReduction(options_.reduction));
  } else if (options_.op == "allgather") {
    AllGather(in, out, shape.count, type);
  } else if (options_.op == "alltoall") {
    AllToAll(in, out, shape.count, type);
  } else {
    Broadcast(const_cast<void*>(in), shape.count, type, 0);
  }
}

std::size_t PerfBench::CountWrong(const Shape& shape, std::byte* in,
                                  std::byte* out) {
  const PerfData data(options_.type, options_.reduction, ++seed_);
  data.Fill(in, Rank(), shape.in);
  Call(shape, in, out);
  const auto rank = static_cast<std::size_t>(Rank());
  std::size_t wrong = 0;
  if (options_.op == "allreduce") {
    wrong = data.WrongReduced(out, 0, shape.out, Size());
  } else if (options_.op == "reduce_scatter") {
    wrong = data.WrongReduced(out, rank * shape.count, shape.out, Size());
  } else if (options_.op == "broadcast") {
    wrong = data.WrongCopied(in, 0, 0, shape.in);
  } else {
    const std::size_t part = shape.count * PerfElementSize(options_.type);
    const std::size_t from = options_.op == "alltoall" ? rank * shape.count : 0;
    for (int r = 0; r < Size(); ++r) {
      wrong += data.WrongCopied(out + static_cast<std::size_t>(r) * part, r,
                                from, shape.count);
    }
  }
  auto total = static_cast<std::int64_t>(wrong);
  AllReduce(&total, 1);
  return static_cast<std::size_t>(total);
}

}  // namespace hvd
