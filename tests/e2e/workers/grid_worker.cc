// grid_worker: every operation of libhvd, with every type, by every rank of a
// real world; then a line that says what came of it.
//
// "digest=D wrong=W": D is of all results that are to be the same everywhere,
// bit by bit; W names the first result that is not what it should be.
#include <hvd/hvd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tests/collectives/reference.h"

namespace {

using hvd::ReduceOp;
using namespace hvd::testing;

constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin,
                          ReduceOp::kMax, ReduceOp::kProduct};
// Within the doubling, on both sides of its end, and several chunks of a ring.
constexpr std::array<std::size_t, 4> kCounts{1, 1023, 17'000, 70'001};

std::size_t Index(int rank) { return static_cast<std::size_t>(rank); }

class Outcome {
 public:
  void Add(const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) {
      digest_ = (digest_ ^ begin[i]) * 0x100000001b3ULL;  // FNV-1a
    }
  }
  void Check(bool right, const std::string& what) {
    if (!right && wrong_.empty()) wrong_ = what;
  }
  void Print() const {
    std::printf("digest=%016llx wrong=%s\n",
                static_cast<unsigned long long>(digest_), wrong_.c_str());
  }

 private:
  std::uint64_t digest_ = 0xcbf29ce484222325ULL;
  std::string wrong_;
};

// All operations on `count` elements of one type.
template <class T>
class Operations {
 public:
  Operations(Outcome& outcome, std::size_t count)
      : outcome_(outcome),
        count_(count),
        rank_(hvd::Rank()),
        size_(hvd::Size()) {}

  void Run() {
    for (const ReduceOp op : kOps) {
      AllReduce(op);
      ReduceScatter(op);
    }
    AllGather();
    AllToAll();
    for (int root = 0; root < size_; ++root) Broadcast(root);
  }

 private:
  static constexpr hvd::DataType kType = DataTypeFor<T>::kValue;

  std::string What(const char* call) const {
    return std::string(call) + " type " +
           std::to_string(static_cast<int>(kType)) + " count " +
           std::to_string(count_);
  }
  void Same(const std::vector<T>& values) {
    outcome_.Add(values.data(), values.size() * sizeof(T));
  }

  // `got` against the reduced elements from `begin` on: some, and the last.
  void CheckReduced(const std::vector<T>& got, std::size_t begin, ReduceOp op,
                    const char* call) {
    for (std::size_t i = 0; i < got.size(); i += 97) {
      const std::size_t at = i + 97 < got.size() ? i : got.size() - 1;
      outcome_.Check(
          Agrees(got[at], ReducedElement<T>(size_, begin + at, op), size_, op),
          What(call));
    }
  }

  void AllReduce(ReduceOp op) {
    std::vector<T> data = ArrayOf<T>(rank_, count_);
    std::vector<T> out(count_);
    hvd::AllReduce(data.data(), out.data(), count_, kType, op);
    hvd::AllReduce(data.data(), data.data(), count_, kType, op);
    CheckReduced(out, 0, op, "allreduce");
    outcome_.Check(data == out, What("allreduce in place"));
    Same(out);
  }

  void ReduceScatter(ReduceOp op) {
    const std::vector<T> in = ArrayOf<T>(rank_, count_ * Index(size_));
    std::vector<T> out(count_);
    hvd::ReduceScatter(in.data(), out.data(), count_, kType, op);
    CheckReduced(out, count_ * Index(rank_), op, "reduce-scatter");
  }

  // Even, and with a count of its own for each rank.
  void AllGather() {
    std::vector<std::size_t> even(Index(size_), count_);
    std::vector<std::size_t> uneven;
    for (std::size_t r = 0; r < Index(size_); ++r) {
      uneven.push_back(r == 1 ? 0 : count_ * (r + 1) / Index(size_));
    }
    for (const auto& counts : {even, uneven}) {
      std::vector<T> expected;
      for (int r = 0; r < size_; ++r) {
        const std::vector<T> part = ArrayOf<T>(r, counts[Index(r)]);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const std::vector<T> mine = ArrayOf<T>(rank_, counts[Index(rank_)]);
      std::vector<T> out(expected.size());
      if (counts == even) {
        hvd::AllGather(mine.data(), out.data(), count_, kType);
      } else {
        hvd::AllGather(mine.data(), out.data(), counts, kType);
      }
      outcome_.Check(out == expected, What("allgather"));
      Same(out);
    }
  }

  static T Sent(int from, int to, std::size_t i) {
    return ElementOf<T>(from * 100 + to, i);
  }

  void AllToAll() {
    std::vector<std::size_t> sent;
    std::vector<std::size_t> received;
    std::vector<T> mine;
    std::vector<T> expected;
    for (int r = 0; r < size_; ++r) {
      sent.push_back(count_ * Index((rank_ + 2 * r) % 4) / 3);
      received.push_back(count_ * Index((r + 2 * rank_) % 4) / 3);
      for (std::size_t i = 0; i < sent.back(); ++i) {
        mine.push_back(Sent(rank_, r, i));
      }
      for (std::size_t i = 0; i < received.back(); ++i) {
        expected.push_back(Sent(r, rank_, i));
      }
    }
    std::vector<T> out(expected.size());
    hvd::AllToAll(mine.data(), sent, out.data(), received, kType);
    outcome_.Check(out == expected, What("alltoall"));
  }

  void Broadcast(int root) {
    std::vector<T> data = ArrayOf<T>(rank_, count_);
    hvd::Broadcast(data.data(), count_, kType, root);
    outcome_.Check(data == ArrayOf<T>(root, count_), What("broadcast"));
    Same(data);
  }

  Outcome& outcome_;
  std::size_t count_;
  int rank_;
  int size_;
};

template <class... T>
void RunAll(Outcome& outcome) {
  for (const std::size_t count : kCounts) {
    (Operations<T>(outcome, count).Run(), ...);
  }
}

}  // namespace

int main() {
  try {
    hvd::Init();
    Outcome outcome;
    RunAll<std::uint8_t, std::int8_t, std::int32_t, std::int64_t, hvd::Float16,
           hvd::Bfloat16, float, double>(outcome);
    hvd::Barrier();
    outcome.Print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "grid_worker: %s\n", error.what());
    return 1;
  }
  return 0;
}
