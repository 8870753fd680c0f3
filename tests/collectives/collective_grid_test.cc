// Every operation, with every type, in every layout of ranks and hosts.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/collectives/reference.h"
#include "tests/collectives/ring_world.h"
#include "tests/support/chance.h"

namespace hvd {
namespace {

using namespace testing;

constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin,
                          ReduceOp::kMax, ReduceOp::kProduct};
enum class Place { kSame, kOther };
constexpr std::array kPlaces{Place::kSame, Place::kOther};

const auto kTransports = {Transport::kShared, Transport::kTcp,
                          Transport::kMixed, Transport::kUneven,
                          Transport::kWoven};

// An array at an address that is a multiple of nothing, or of everything.
template <class T>
class Buffer {
 public:
  Buffer(const std::vector<T>& values, std::size_t misaligned)
      : bytes_(values.size() * sizeof(T) + misaligned),
        misaligned_(misaligned) {
    if (!values.empty()) {
      std::memcpy(data(), values.data(), values.size() * sizeof(T));
    }
  }
  std::byte* data() { return bytes_.data() + misaligned_; }
  std::vector<T> values() {
    std::vector<T> values((bytes_.size() - misaligned_) / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), data(), values.size() * sizeof(T));
    }
    return values;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t misaligned_;
};

std::string Said(const Status& status) {
  return status.ok() ? "" : status.error().message();
}

// One rank's checks of all operations for elements of type T.
template <class T>
class Checks {
 public:
  Checks(Communicator& c, std::size_t misaligned)
      : c_(c), size_(static_cast<std::size_t>(c.size())), off_(misaligned) {}

  // The first thing that is wrong.
  std::string Run(std::size_t count) {
    for (const Place place : kPlaces) {
      for (const ReduceOp op : kOps) {
        std::string wrong = AllReduce(count, op, place);
        if (wrong.empty()) wrong = ReduceScatter(count, op, place);
        if (!wrong.empty()) return What(op, count) + wrong;
      }
      std::string wrong = AllGather(count, place);
      if (wrong.empty()) wrong = UnevenAllGather(count, place);
      if (wrong.empty()) wrong = AllToAll(count, place);
      if (!wrong.empty()) return What(ReduceOp::kSum, count) + wrong;
    }
    std::string wrong = UnevenAllToAll(count);
    if (wrong.empty()) wrong = Broadcast(count);
    if (wrong.empty()) wrong = Said(c_.Barrier());
    return wrong.empty() ? "" : What(ReduceOp::kSum, count) + wrong;
  }

 private:
  static constexpr DataType kType = DataTypeFor<T>::kValue;

  std::string What(ReduceOp op, std::size_t count) {
    return std::string(Name(kType)) + ' ' + std::string(Name(op)) +
           " count=" + std::to_string(count) + ": ";
  }

  // A few of many, and the last ones.
  static std::vector<std::size_t> Samples(std::size_t count) {
    std::vector<std::size_t> samples;
    for (std::size_t i = 0; i<count; i += count> 300 ? 97 : 1) {
      samples.push_back(i);
    }
    if (count > 0) samples.push_back(count - 1);
    return samples;
  }

  std::string AllReduce(std::size_t count, ReduceOp op, Place place) {
    const std::vector<T> mine = ArrayOf<T>(c_.rank(), count);
    Buffer<T> in(mine, off_);
    Buffer<T> other(std::vector<T>(count), off_);
    Buffer<T>& out = place == Place::kSame ? in : other;
    const Status s = c_.AllReduce(in.data(), out.data(), count, kType, op);
    if (!s.ok()) return Said(s);
    const std::vector<T> got = out.values();
    for (const std::size_t i : Samples(count)) {
      if (!Agrees(got[i], ReducedElement<T>(c_.size(), i, op), c_.size(), op)) {
        return "allreduce: element " + std::to_string(i) + " is " +
               std::to_string(ValueOf(got[i]));
      }
    }
    return place == Place::kOther && in.values() != mine
               ? "allreduce: input changed"
               : "";
  }

  std::string ReduceScatter(std::size_t count, ReduceOp op, Place place) {
    const std::vector<T> mine = ArrayOf<T>(c_.rank(), count * size_);
    Buffer<T> in(mine, off_);
    Buffer<T> other(std::vector<T>(count), off_);
    const std::size_t begin = static_cast<std::size_t>(c_.rank()) * count;
    std::byte* const out =
        place == Place::kSame ? in.data() + begin * sizeof(T) : other.data();
    const Status s = c_.ReduceScatter(in.data(), out, count, kType, op);
    if (!s.ok()) return Said(s);
    std::vector<T> got(count);
    if (count > 0) std::memcpy(got.data(), out, count * sizeof(T));
    for (const std::size_t i : Samples(count)) {
      if (!Agrees(got[i], ReducedElement<T>(c_.size(), begin + i, op),
                  c_.size(), op)) {
        return "reduce-scatter: element " + std::to_string(i) + " is " +
               std::to_string(ValueOf(got[i]));
      }
    }
    return "";
  }

  std::string Gathered(const std::vector<std::size_t>& counts,
                       const Shares& shares, Place place) {
    std::vector<T> expected;
    for (int r = 0; r < c_.size(); ++r) {
      const std::vector<T> part =
          ArrayOf<T>(r, counts[static_cast<std::size_t>(r)]);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const std::vector<T> mine =
        ArrayOf<T>(c_.rank(), counts[static_cast<std::size_t>(c_.rank())]);
    Buffer<T> in(mine, off_);
    Buffer<T> out(std::vector<T>(expected.size()), off_);
    std::byte* const part = out.data() + shares.Begin(c_.rank()) * sizeof(T);
    if (place == Place::kSame && !mine.empty()) {
      std::memcpy(part, mine.data(), mine.size() * sizeof(T));
    }
    const Status s = c_.AllGather(place == Place::kSame ? part : in.data(),
                                  out.data(), shares, kType);
    if (!s.ok()) return Said(s);
    return out.values() == expected ? "" : "allgather is wrong";
  }

  std::string AllGather(std::size_t count, Place place) {
    const std::vector<std::size_t> counts(size_, count);
    return Gathered(counts, Shares(count, c_.size()), place);
  }

  std::string UnevenAllGather(std::size_t count, Place place) {
    std::vector<std::size_t> counts;
    for (std::size_t r = 0; r < size_; ++r) {
      counts.push_back(r == 1 ? 0 : count * (r + 1) / size_);
    }
    return Gathered(counts, Shares(counts), place);
  }

  // Element i of what `from` sends to `to`.
  static T Sent(int from, int to, std::size_t i) {
    return ElementOf<T>(from * 100 + to, i);
  }

  std::string AllToAll(std::size_t count, Place place) {
    std::vector<T> mine;
    std::vector<T> expected;
    for (int r = 0; r < c_.size(); ++r) {
      for (std::size_t i = 0; i < count; ++i) {
        mine.push_back(Sent(c_.rank(), r, i));
        expected.push_back(Sent(r, c_.rank(), i));
      }
    }
    Buffer<T> in(mine, off_);
    Buffer<T> other(std::vector<T>(mine.size()), off_);
    Buffer<T>& out = place == Place::kSame ? in : other;
    const Shares each(count, c_.size());
    const Status s = c_.AllToAll(in.data(), each, out.data(), each, kType);
    if (!s.ok()) return Said(s);
    return out.values() == expected ? "" : "alltoall is wrong";
  }

  static std::size_t UnevenCount(std::size_t count, int from, int to) {
    return from == to
               ? count / 2
               : count * static_cast<std::size_t>((from + 2 * to) % 4) / 3;
  }

  std::string UnevenAllToAll(std::size_t count) {
    std::vector<std::size_t> sent;
    std::vector<std::size_t> received;
    std::vector<T> mine;
    std::vector<T> expected;
    for (int r = 0; r < c_.size(); ++r) {
      sent.push_back(UnevenCount(count, c_.rank(), r));
      received.push_back(UnevenCount(count, r, c_.rank()));
      for (std::size_t i = 0; i < sent.back(); ++i) {
        mine.push_back(Sent(c_.rank(), r, i));
      }
      for (std::size_t i = 0; i < received.back(); ++i) {
        expected.push_back(Sent(r, c_.rank(), i));
      }
    }
    Buffer<T> in(mine, off_);
    Buffer<T> out(std::vector<T>(expected.size()), off_);
    const Status s = c_.AllToAll(in.data(), Shares(sent), out.data(),
                                 Shares(received), kType);
    if (!s.ok()) return Said(s);
    return out.values() == expected ? "" : "uneven alltoall is wrong";
  }

  std::string Broadcast(std::size_t count) {
    for (int root = 0; root < c_.size(); ++root) {
      Buffer<T> data(ArrayOf<T>(c_.rank(), count), off_);
      const Status s = c_.Broadcast(data.data(), count, kType, root);
      if (!s.ok()) return Said(s);
      if (data.values() != ArrayOf<T>(root, count)) {
        return "broadcast from " + std::to_string(root) + " is wrong";
      }
    }
    return "";
  }

  Communicator& c_;
  std::size_t size_;
  std::size_t off_;
};

template <class T>
std::string CheckType(Communicator& c) {
  // Both sides of every threshold of the small table, and several chunks.
  for (const std::size_t bytes :
       {0UL, 1UL, 3UL, 16UL, 17UL, 255UL, 264UL, 1000UL, 1100UL, 9000UL}) {
    const std::size_t count = (bytes + sizeof(T) - 1) / sizeof(T);
    const std::size_t misaligned = bytes % 2 == 0 ? 0 : 1;
    std::string wrong = Checks<T>(c, misaligned).Run(count);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string CheckAllTypes(Communicator& c) {
  std::string wrong = CheckType<std::int32_t>(c);
  if (wrong.empty()) wrong = CheckType<std::uint8_t>(c);
  if (wrong.empty()) wrong = CheckType<std::int8_t>(c);
  if (wrong.empty()) wrong = CheckType<std::int64_t>(c);
  if (wrong.empty()) wrong = CheckType<Float16>(c);
  if (wrong.empty()) wrong = CheckType<Bfloat16>(c);
  if (wrong.empty()) wrong = CheckType<float>(c);
  if (wrong.empty()) wrong = CheckType<double>(c);
  return wrong;
}

// At which sizes of the world every type is tried; one is at the others.
bool HasAllTypes(int size) {
#ifdef HVD_SMALL_GRID
  if (!InSoak()) return size == 3;
#endif
  return size == 2 || size == 3 || size == 5;
}

void CheckGrid(Transport transport) {
  for (int size = 1; size <= 8; ++size) {
    INFO(ToString(transport) << ", size " << size);
    const bool all = HasAllTypes(size);
    CHECK(RunThreads(
              {.size = size, .transport = transport, .table = SmallTable()},
              all ? CheckAllTypes : CheckType<float>) == "");
  }
}

}  // namespace

TEST_CASE("Collectives within a host give the right results for 1 to 8 ranks",
          "[collectives]") {
  CheckGrid(Transport::kShared);
}

TEST_CASE("Collectives over TCP give the right results for 1 to 8 ranks",
          "[collectives]") {
  CheckGrid(Transport::kTcp);
}

TEST_CASE("Collectives over pairs of ranks a host give the right results",
          "[collectives]") {
  CheckGrid(Transport::kMixed);
}

TEST_CASE("Collectives over three uneven hosts give the right results",
          "[collectives]") {
  CheckGrid(Transport::kUneven);
}

TEST_CASE(
    "Collectives over hosts whose ranks take turns give the right "
    "results",
    "[collectives]") {
  CheckGrid(Transport::kWoven);
}

TEST_CASE(
    "Collectives give the right results to processes with usual "
    "thresholds",
    "[collectives]") {
  for (const Transport transport : kTransports) {
    ProcessWorld world({.size = 4, .transport = transport}, [](Communicator& c,
                                                               Report& report) {
      std::string wrong;
      for (const std::size_t count : {1UL, 3000UL, 70'001UL}) {
        if (wrong.empty()) wrong = Checks<float>(c, 0).Run(count);
      }
      std::copy(wrong.begin(), wrong.end(), report.text.begin());
      report.calls = 1;
    });
    REQUIRE(world.AwaitExits(-1, Duration{60'000}) == 0);
    for (int rank = 0; rank < world.size(); ++rank) {
      INFO(ToString(transport) << ", rank " << rank);
      CHECK(world.report(rank).calls == 1);
      CHECK(std::string(world.report(rank).text.data()) == "");
    }
  }
}

}  // namespace hvd
