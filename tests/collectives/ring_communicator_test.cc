#include "collectives/ring_communicator.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/collectives/reference.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

constexpr std::array kCounts{0UL, 1UL, 2UL, 3UL, 7UL, 1000UL, 65537UL};
constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin,
                          ReduceOp::kMax, ReduceOp::kProduct};
enum class Place { kSame, kOther };

template <class T>
std::string CheckAllReduce(Communicator& c, std::size_t count, ReduceOp op,
                           Place place) {
  const std::vector<T> mine = ArrayOf<T>(c.rank(), count);
  std::vector<T> in = mine;
  std::vector<T> other(count);
  std::vector<T>& out = place == Place::kSame ? in : other;
  const std::string what = std::string(Name(DataTypeFor<T>::kValue)) + ' ' +
                           std::string(Name(op)) +
                           " count=" + std::to_string(count);
  const Status status =
      c.AllReduce(in.data(), out.data(), count, DataTypeFor<T>::kValue, op);
  if (!status.ok()) return what + ": " + status.error().message();
  // Every element of a long array once a type, a sample of the rest.
  const std::size_t stride = count > 1000 && op != ReduceOp::kSum ? 89 : 1;
  for (std::size_t i = 0; i < count; i += stride) {
    if (!Agrees(out[i], ReducedElement<T>(c.size(), i, op), c.size(), op)) {
      return what + ": element " + std::to_string(i) + " is " +
             std::to_string(ValueOf(out[i]));
    }
  }
  if (place == Place::kOther && in != mine) return what + ": input changed";
  return "";
}

template <class T>
std::string CheckAllReduces(Communicator& c) {
  for (const std::size_t count : kCounts) {
    for (const ReduceOp op : kOps) {
      for (const Place place : {Place::kSame, Place::kOther}) {
        std::string wrong = CheckAllReduce<T>(c, count, op, place);
        if (!wrong.empty()) return wrong;
      }
    }
  }
  return "";
}

template <class T>
std::string CheckBroadcasts(Communicator& c) {
  for (const std::size_t count : kCounts) {
    for (int root = 0; root < c.size(); ++root) {
      std::vector<T> data = ArrayOf<T>(c.rank(), count);
      const Status status =
          c.Broadcast(data.data(), count, DataTypeFor<T>::kValue, root);
      if (!status.ok()) return status.error().message();
      if (data != ArrayOf<T>(root, count)) {
        return "broadcast from " + std::to_string(root) +
               " count=" + std::to_string(count) + " is wrong";
      }
    }
  }
  return "";
}

template <class T>
std::string CheckAllGathers(Communicator& c) {
  for (const std::size_t count : kCounts) {
    for (const Place place : {Place::kSame, Place::kOther}) {
      const std::vector<T> mine = ArrayOf<T>(c.rank(), count);
      std::vector<T> out(count * static_cast<std::size_t>(c.size()));
      T* const slot = out.data() + static_cast<std::size_t>(c.rank()) * count;
      if (place == Place::kSame) std::copy(mine.begin(), mine.end(), slot);
      const Status status =
          c.AllGather(place == Place::kSame ? slot : mine.data(), out.data(),
                      count, DataTypeFor<T>::kValue);
      if (!status.ok()) return status.error().message();
      std::vector<T> expected;
      for (int rank = 0; rank < c.size(); ++rank) {
        const std::vector<T> part = ArrayOf<T>(rank, count);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      if (out != expected) return "allgather is wrong";
    }
  }
  return "";
}

template <class T>
std::string CheckAll(Communicator& c) {
  std::string wrong = CheckAllReduces<T>(c);
  if (wrong.empty()) wrong = CheckBroadcasts<T>(c);
  if (wrong.empty()) wrong = CheckAllGathers<T>(c);
  if (!wrong.empty()) return wrong;
  const Status status = c.Barrier();
  return status.ok() ? "" : status.error().message();
}

std::string CheckAllTypes(Communicator& c) {
  std::string wrong = CheckAll<std::int32_t>(c);
  if (wrong.empty()) wrong = CheckAll<std::uint8_t>(c);
  if (wrong.empty()) wrong = CheckAll<std::int8_t>(c);
  if (wrong.empty()) wrong = CheckAll<Float16>(c);
  if (wrong.empty()) wrong = CheckAll<Bfloat16>(c);
  if (wrong.empty()) wrong = CheckAll<std::int64_t>(c);
  if (wrong.empty()) wrong = CheckAll<float>(c);
  if (wrong.empty()) wrong = CheckAll<double>(c);
  return wrong;
}

const auto kTransports = {Transport::kShared, Transport::kTcp,
                          Transport::kMixed};

}  // namespace

TEST_CASE("Collectives give the right results for 2 to 5 ranks as processes",
          "[collectives]") {
  for (const Transport transport : kTransports) {
    for (int size = 2; size <= 5; ++size) {
      INFO(ToString(transport) << ", size " << size);
      ProcessWorld world({.size = size, .transport = transport},
                         [](Communicator& c, Report& report) {
                           const std::string wrong = CheckAllTypes(c);
                           std::copy(wrong.begin(), wrong.end(),
                                     report.text.begin());
                           report.calls = 1;
                         });
      REQUIRE(world.AwaitExits(-1, Duration{60'000}) == 0);
      for (int rank = 0; rank < size; ++rank) {
        CHECK(world.report(rank).calls == 1);
        CHECK(std::string(world.report(rank).text.data()) == "");
      }
    }
  }
}

TEST_CASE("All ranks get the same bits, and the same as the last time",
          "[collectives]") {
  for (const Transport transport : kTransports) {
    std::mutex mutex;
    std::set<std::vector<float>> results;
    for (int round = 0; round < 5; ++round) {
      const auto body = [&](Communicator& c) -> std::string {
        std::vector<float> data = ArrayOf<float>(c.rank(), 10'007);
        if (!c.AllReduce(data.data(), data.data(), data.size(),
                         DataType::kFloat32, ReduceOp::kAverage)
                 .ok()) {
          return "failed";
        }
        const std::lock_guard lock(mutex);
        results.insert(std::move(data));
        return "";
      };
      CHECK(RunThreads({.size = 5, .transport = transport}, body) == "");
    }
    CHECK(results.size() == 1);
  }
}

TEST_CASE("Collectives give the right results for 1 to 5 ranks as threads",
          "[collectives]") {
  for (int size = 1; size <= 5; ++size) {
    INFO("size " << size);
    CHECK(RunThreads({.size = size, .transport = Transport::kMixed},
                     CheckAllTypes) == "");
  }
}

}  // namespace hvd
