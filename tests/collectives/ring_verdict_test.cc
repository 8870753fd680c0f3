#include "collectives/ring_verdict.h"

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "collectives/ring_schedule.h"

namespace hvd {
namespace {

constexpr Instant kStart{};

// A ring of RingVerdicts whose records wait on the wires until they are
// delivered, in any order the test likes; each wire keeps its own.
class Ring {
 public:
  explicit Ring(int size) : size_(size) {
    for (int rank = 0; rank < size; ++rank) {
      ranks_.emplace_back(rank, size);
      dead_.push_back(false);
    }
  }

  RingVerdict& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  int size() const { return size_; }
  bool dead(int rank) const { return dead_[static_cast<std::size_t>(rank)]; }

  // It sends and hears no more. Its neighbours notice when `noticed`.
  enum class Notice { kAtOnce, kNever };
  void Stop(int rank, Notice notice) {
    dead_[static_cast<std::size_t>(rank)] = true;
    if (notice == Notice::kNever) return;
    at(LeftOf(rank, size_)).OnGone(Side::kRight);
    at(RightOf(rank, size_)).OnGone(Side::kLeft);
  }

  // Delivers one record from a wire that `pick` chooses; false: all are empty.
  template <class Pick>
  bool DeliverOne(Pick pick, Instant now) {
    Collect();
    std::vector<Wire*> busy;
    for (auto& [key, wire] : wires_) {
      if (!wire.records.empty()) busy.push_back(&wire);
    }
    if (busy.empty()) return false;
    Wire& wire = *busy[pick(busy.size())];
    RingRecord record = std::move(wire.records.front());
    wire.records.pop_front();
    if (!dead(wire.to)) at(wire.to).OnRecord(wire.side, record, now);
    return true;
  }

  void DeliverAll(Instant now) {
    while (DeliverOne([](std::size_t) { return std::size_t{0}; }, now)) {
    }
  }
  void PassTime(Instant now) {
    for (int rank = 0; rank < size_; ++rank) {
      if (!dead(rank)) at(rank).OnTime(now);
    }
    DeliverAll(now);
  }

  // What the living ranks say; "nothing" for none.
  std::set<std::string> Verdicts() {
    std::set<std::string> texts;
    for (int rank = 0; rank < size_; ++rank) {
      if (dead(rank)) continue;
      const auto& verdict = at(rank).verdict();
      texts.insert(verdict ? verdict->text : "nothing");
    }
    return texts;
  }

 private:
  struct Wire {
    int to = 0;
    Side side = Side::kLeft;  // from where `to` sees it come
    std::deque<RingRecord> records;
  };

  void Collect() {
    for (int rank = 0; rank < size_; ++rank) {
      for (auto& out : at(rank).TakeOutgoing()) {
        if (dead(rank)) continue;
        const bool right = out.to == Side::kRight;
        Wire& wire = wires_[{rank, right}];
        wire.to = right ? RightOf(rank, size_) : LeftOf(rank, size_);
        wire.side = right ? Side::kLeft : Side::kRight;
        wire.records.push_back(std::move(out.record));
      }
    }
  }

  int size_;
  std::vector<RingVerdict> ranks_;
  std::vector<bool> dead_;
  std::map<std::pair<int, bool>, Wire> wires_;
};

CommFailure FailureOf(int rank) {
  return {-1, ErrorCode::kInvalidArgument,
          "seen by rank " + std::to_string(rank)};
}

}  // namespace

TEST_CASE("Proposals made at any moments end in one verdict for all",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    Ring ring(2 + static_cast<int>(random() % 7));
    int to_propose = 1 + static_cast<int>(random() % 4);
    bool moving = true;
    while (moving || to_propose > 0) {
      if (to_propose > 0 && random() % 4 == 0) {
        --to_propose;
        const int rank =
            static_cast<int>(random() % static_cast<unsigned>(ring.size()));
        ring.at(rank).Propose(FailureOf(rank), kStart);
      }
      moving =
          ring.DeliverOne([&](std::size_t n) { return random() % n; }, kStart);
    }
    REQUIRE(ring.Verdicts().size() == 1);
    REQUIRE(ring.Verdicts().count("nothing") == 0);
  }
}

TEST_CASE("A death is a verdict for all survivors, whichever rank dies",
          "[collectives]") {
  for (int size = 2; size <= 8; ++size) {
    for (int victim = 0; victim < size; ++victim) {
      Ring ring(size);
      ring.Stop(victim, Ring::Notice::kAtOnce);
      ring.DeliverAll(kStart);
      CHECK(ring.Verdicts() ==
            std::set<std::string>{
                "rank " + std::to_string(victim) +
                " died: its connections closed without a goodbye"});
    }
  }
}

TEST_CASE("A proposal that a stopped rank holds up becomes the verdict in time",
          "[collectives]") {
  Ring ring(4);
  ring.Stop(2, Ring::Notice::kNever);
  ring.at(0).Propose(FailureOf(0), kStart);
  ring.DeliverAll(kStart);
  CHECK(ring.Verdicts() == std::set<std::string>{"nothing"});
  CHECK(ring.at(0).NextDeadline() == kStart + RingVerdict::kElection);
  ring.PassTime(kStart + RingVerdict::kElection);
  CHECK(ring.Verdicts() == std::set<std::string>{"seen by rank 0"});
}

TEST_CASE("An inquiry names the rank that does not answer, whoever asks",
          "[collectives]") {
  for (int size = 2; size <= 6; ++size) {
    for (int victim = 0; victim < size; ++victim) {
      for (int asker = 0; asker < size; ++asker) {
        if (asker == victim) continue;
        Ring ring(size);
        ring.Stop(victim, Ring::Notice::kNever);
        ring.at(asker).Inquire(LeftOf(asker, size), "it", kStart);
        ring.DeliverAll(kStart);
        ring.PassTime(kStart + RingVerdict::kInquiry);
        CHECK(ring.Verdicts() ==
              std::set<std::string>{"rank " + std::to_string(victim) +
                                    " fell silent in it"});
      }
    }
  }
}

TEST_CASE("An inquiry that all answer names the rank that is behind",
          "[collectives]") {
  Ring ring(5);
  for (int rank = 0; rank < 5; ++rank) {
    ring.at(rank).SetEntered(rank == 3 ? 6 : 7);
  }
  ring.at(1).Inquire(0, "operation 7", kStart);
  ring.DeliverAll(kStart);
  ring.PassTime(kStart + RingVerdict::kInquiry);
  CHECK(ring.Verdicts() ==
        std::set<std::string>{"rank 3 has not entered operation 7"});
}

TEST_CASE("Inquiries of several ranks at once end in one verdict",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    Ring ring(3 + static_cast<int>(random() % 5));
    const int victim =
        static_cast<int>(random() % static_cast<unsigned>(ring.size()));
    ring.Stop(victim, Ring::Notice::kNever);
    for (int rank = 0; rank < ring.size(); ++rank) {
      if (rank == victim || random() % 2 == 0) continue;
      ring.at(rank).Inquire(LeftOf(rank, ring.size()),
                            "what rank " + std::to_string(rank) + " is in",
                            kStart);
      for (unsigned i = random() % 4; i > 0; --i) {
        ring.DeliverOne([&](std::size_t n) { return random() % n; }, kStart);
      }
    }
    ring.at(RightOf(victim, ring.size())).Inquire(victim, "it", kStart);
    while (
        ring.DeliverOne([&](std::size_t n) { return random() % n; }, kStart)) {
    }
    ring.PassTime(kStart + RingVerdict::kInquiry);
    REQUIRE(ring.Verdicts().size() == 1);
    REQUIRE(ring.Verdicts().begin()->rfind(
                "rank " + std::to_string(victim) + " fell silent", 0) == 0);
  }
}

TEST_CASE("A rank that said goodbye is not taken for dead", "[collectives]") {
  Ring ring(4);
  ring.at(1).Leave(7);
  ring.DeliverAll(kStart);
  ring.Stop(1, Ring::Notice::kAtOnce);
  ring.DeliverAll(kStart);
  CHECK(ring.Verdicts() == std::set<std::string>{"nothing"});
  for (const int rank : {0, 2, 3}) {
    CHECK(ring.at(rank).first_departure() ==
          std::pair<int, std::uint64_t>(1, 7));
  }
}

TEST_CASE("A record from a rank outside the world changes nothing",
          "[collectives]") {
  RingVerdict verdict(0, 2);
  verdict.OnRecord(Side::kLeft,
                   {.kind = RingRecord::Kind::kVerdict,
                    .origin = 2,
                    .operations = 0,
                    .failure = FailureOf(2)},
                   kStart);
  CHECK_FALSE(verdict.verdict());
}

}  // namespace hvd
