#include <catch2/catch.hpp>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collectives/world_communicator.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

struct NamedCall {
  std::string text;  // as Describe() says it
  std::function<Status(Communicator&)> make;
};

std::vector<NamedCall> Calls() {
  static constexpr std::size_t kMany = 100'000;
  const auto reduce = [](std::size_t count, DataType type, ReduceOp op) {
    return [=](Communicator& c) {
      std::vector<double> data(kMany);
      return c.AllReduce(data.data(), data.data(), count, type, op);
    };
  };
  const auto broadcast = [](std::size_t count, int root) {
    return [=](Communicator& c) {
      std::vector<double> data(kMany);
      return c.Broadcast(data.data(), count, DataType::kFloat64, root);
    };
  };
  const auto gather = [](Communicator& c) {
    std::vector<float> in(5);
    std::vector<float> out(5 * static_cast<std::size_t>(c.size()));
    return c.AllGather(in.data(), out.data(), {5, c.size()},
                       DataType::kFloat32);
  };
  return {
      {"allreduce f32 sum count=100",
       reduce(100, DataType::kFloat32, ReduceOp::kSum)},
      {"allreduce f32 sum count=100000",
       reduce(kMany, DataType::kFloat32, ReduceOp::kSum)},
      {"allreduce i32 sum count=100",
       reduce(100, DataType::kInt32, ReduceOp::kSum)},
      {"allreduce f32 max count=100",
       reduce(100, DataType::kFloat32, ReduceOp::kMax)},
      {"allreduce f32 sum count=0",
       reduce(0, DataType::kFloat32, ReduceOp::kSum)},
      {"broadcast f64 count=100000 root=0", broadcast(kMany, 0)},
      {"broadcast f64 count=100000 root=1", broadcast(kMany, 1)},
      {"broadcast f64 count=0 root=0", broadcast(0, 0)},
      {"allgather f32 count=5", gather},
      {"reduce-scatter f32 sum count=7",
       [](Communicator& c) {
         std::vector<float> in(7 * static_cast<std::size_t>(c.size()));
         std::vector<float> out(7);
         return c.ReduceScatter(in.data(), out.data(), 7, DataType::kFloat32,
                                ReduceOp::kSum);
       }},
      {"alltoall f32",
       [](Communicator& c) {
         const Shares one(1, c.size());
         std::vector<float> in(one.Total());
         std::vector<float> out(one.Total());
         return c.AllToAll(in.data(), one, out.data(), one, DataType::kFloat32);
       }},
      {"barrier", [](Communicator& c) { return c.Barrier(); }},
  };
}

// Ranks of a world in which one rank calls `odd` and the others `usual`; the
// texts they got, "" for none.
std::multiset<std::string> TextsOf(const WorldOptions& options, int odd_rank,
                                   const NamedCall& usual,
                                   const NamedCall& odd) {
  std::mutex mutex;
  std::multiset<std::string> texts;
  const std::string broken = RunThreads(options, [&](Communicator& c) {
    const Status before = c.Barrier();
    const Status status = c.rank() == odd_rank ? odd.make(c) : usual.make(c);
    const std::lock_guard lock(mutex);
    texts.insert(status.ok() ? "" : status.error().message());
    return before.ok() ? std::string() : before.error().message();
  });
  CHECK(broken == "");
  return texts;
}

}  // namespace

TEST_CASE("Ranks that call different things all learn both sides' call",
          "[collectives]") {
  const std::vector<NamedCall> calls = Calls();
  int odd_rank = 0;
  for (const Transport transport :
       {Transport::kShared, Transport::kTcp, Transport::kMixed}) {
    for (const NamedCall& usual : calls) {
      for (const NamedCall& odd : calls) {
        if (&usual == &odd) continue;
        const WorldOptions options{.size = 3, .transport = transport};
        odd_rank = (odd_rank + 1) % options.size;
        const auto texts = TextsOf(options, odd_rank, usual, odd);
        const std::string& text = *texts.begin();
        INFO(usual.text << " against " << odd.text << " on rank " << odd_rank
                        << " by " << ToString(transport));
        CHECK(texts.count(text) == 3);
        CHECK(text.find(" called " + usual.text) != std::string::npos);
        CHECK(text.find(" called " + odd.text) != std::string::npos);
        CHECK(text.find("as operation 2") != std::string::npos);
        CHECK(text.find("rank " + std::to_string(odd_rank) + " called " +
                        odd.text) != std::string::npos);
      }
    }
  }
}

TEST_CASE("A wrong root is refused before anything is sent", "[collectives]") {
  CHECK(RunThreads({.size = 2}, [](Communicator& c) -> std::string {
          int x = c.rank();
          const Status wrong = c.Broadcast(&x, 1, DataType::kInt32, 2);
          if (wrong.ok() || wrong.error().message() !=
                                "broadcast: root must be 0 to 1, got 2") {
            return "root 2 was not refused as it should be";
          }
          const Status right = c.Broadcast(&x, 1, DataType::kInt32, 1);
          return right.ok() && x == 1 ? "" : "the communicator is spoilt";
        }) == "");
}

}  // namespace hvd
