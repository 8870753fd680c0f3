// Worlds that follow each other so soon that some never form, with members that
// die and come on the way.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/chance.h"
#include "tests/support/program.h"
#include "tests/worker/job.h"

namespace hvd {
namespace {

using namespace testing;

constexpr std::uint64_t kLastEpoch = 8;
constexpr const char* kScene = "train8";  // until that epoch has made steps

using Seed = std::mt19937::result_type;

// One job, to which things happen.
class Race {
 public:
  explicit Race(Seed seed)
      : random_(seed),
        members_(OneHost(3)),
        job_(HVD_ELASTIC_PROBE, members_, JobKind::kElastic) {
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      programs_[members_[rank]] = job_.Start(static_cast<int>(rank), kScene);
    }
  }

  void Run() {
    for (std::uint64_t epoch = 2; epoch <= kLastEpoch; ++epoch) {
      AwaitRandomMoment();
      Happen();
      job_.Publish(members_);
    }
  }

  const std::string& done() const { return done_; }
  const std::vector<WorkerId>& members() const { return members_; }
  Program& program(const WorkerId& worker) { return *programs_.at(worker); }

 private:
  std::size_t Pick(std::size_t below) { return random_() % below; }

  // Every third time none at all.
  void AwaitRandomMoment() {
    const auto limit = std::chrono::milliseconds(Pick(3) == 0 ? 0 : Pick(60));
    program(members_[0]).WaitUntil([] { return false; }, limit);
  }

  void Happen() {
    switch (members_.size() > 1 ? Pick(5) : 2 + Pick(3)) {
      case 0:
      case 1:
        return Lose(Pick(members_.size()));
      case 2:
      case 3:
        return Add();
      default:
        done_ += " same";
    }
  }

  void Lose(std::size_t rank) {
    const WorkerId lost = members_[rank];
    done_ += " lose " + ToString(lost);
    program(lost).Signal(SIGKILL);
    program(lost).Wait(kPatient);
    // Told of the loss, or of the next world only.
    if (Pick(2) == 0) job_.Notify({static_cast<int>(rank), "it was killed"});
    members_.erase(members_.begin() + static_cast<long>(rank));
    free_.push_back(lost);
  }

  // In a slot that was lost, or in a new one. Its world is published whether it
  // has asked for one or not.
  void Add() {
    WorkerId newcomer{"a", next_slot_};
    if (free_.empty() || Pick(2) == 0) {
      ++next_slot_;
    } else {
      newcomer = free_.back();
      free_.pop_back();
    }
    done_ += " add " + ToString(newcomer);
    programs_[newcomer] = job_.StartNewcomer(newcomer, kScene);
    members_.push_back(newcomer);
  }

  std::mt19937 random_;
  std::vector<WorkerId> members_;
  Job job_;
  std::map<WorkerId, std::unique_ptr<Program>> programs_;
  std::vector<WorkerId> free_;
  int next_slot_ = 3;
  std::string done_;
};

// "step=N", at which this member ended in the last world.
std::string EndOf(Race& race, std::size_t rank) {
  const ProgramResult result =
      race.program(race.members()[rank]).Wait(kPatient);
  const std::string place = "end epoch=" + std::to_string(kLastEpoch) +
                            " rank=" + std::to_string(rank) +
                            " size=" + std::to_string(race.members().size());
  INFO("rank " << rank << ":\n" << result.out << result.err);
  CHECK(result.status.success());
  const std::size_t at = result.out.find(place);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + place.size();
  return result.out.substr(from, result.out.find('\n', from) - from);
}

}  // namespace

TEST_CASE("Worlds that chase each other end in one that trains together",
          "[worker]") {
  const Seed seed = ChooseSeed();
  std::mt19937 seeds(seed);
  const int rounds = InSoak() ? 50 : 4;
  for (int round = 0; round < rounds; ++round) {
    Race race(seeds());
    race.Run();
    CAPTURE(seed, round, race.done());
    const std::string step = EndOf(race, 0);
    for (std::size_t rank = 1; rank < race.members().size(); ++rank) {
      CHECK(EndOf(race, rank) == step);
    }
  }
}

}  // namespace hvd
