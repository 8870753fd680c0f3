// HorovodBoard: what a job's worlds are to real Horovod workers, which know
// nothing of epochs.
//
// A Horovod worker is told its first place by its environment and every later
// one by an answer to GET /rank_and_size. So:
//
// - A newcomer is started for one world, with a place that nothing can change.
//   The first thing it does once it has imported everything is PUT
//   /global/rank_<its rank>. That request is kept: the newcomer is ready, and
//   stands there for as long as the others train.
// - A world is handed out when all its members stand there, survivors in
//   /rank_and_size and newcomers in that PUT, and whoever is in it no more has
//   asked or ended. Then all are answered, and the store is emptied before. So
//   no survivor enters a world that somebody does not come to: Horovod aborts
//   the process of whoever waits there in vain.
// - A newcomer whose world will not be, because somebody died meanwhile, is
//   misplaced: it must be started again.
//
// It never says what the next world is; that is the driver's business, which
// hears of Horovod's workers what it hears of ours: who is ready.
//
// Pure. A waiter is a number of the caller's; what functions return is what is
// to be done now.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rendezvous/horovod_message.h"
#include "rendezvous/world.h"
#include "rendezvous/world_board.h"

namespace hvd {

// Workers that are being started, and the world that their environments show.
struct StartedWorkers {
  std::vector<WorkerId> workers;
  // Epoch 0: it is a plan, and not the world of any epoch yet.
  World shown;
};

class HorovodBoard {
 public:
  struct Effects {
    bool handed_out = false;  // current() is another world: empty the store
    std::vector<std::pair<Waiter, std::string>> places;  // rank_and_size
    std::vector<Waiter> admitted;  // kept PUTs that may go on
    std::vector<Waiter> replaced;  // asked again on another connection
    std::vector<std::pair<WorkerId, Epoch>> ready;  // the epoch it has
    std::vector<WorkerId> misplaced;
  };

  void Started(const StartedWorkers& started);
  // Its process is gone, or never came to be.
  Effects Ended(const WorkerId& worker);
  // HVD_CHECKs that the epoch grows.
  Effects Publish(const World& world);

  // GET /rank_and_size/<key>. Always answered in time: by these effects or
  // later ones.
  Effects Ask(Waiter waiter, std::string_view key);
  // PUT /global/rank_<rank>. nullopt: let it pass, it is from a member.
  std::optional<Effects> Announce(Waiter waiter, int rank);
  // PUT /worker_addresses/<key>.
  Effects Register(std::string_view key, HorovodListener listener);
  // The request's connection is gone.
  void Leave(Waiter waiter);

  // The world that is in the store.
  const World& current() const { return current_; }
  // Whom to tell that a new world was published, for as long as that is so;
  // nullptr: nobody, or nobody who can be told yet.
  const HorovodListener* WhomToTell() const;

 private:
  using Plan = std::vector<WorkerId>;
  struct Process {
    // Shared by all that were started together, and often long.
    std::shared_ptr<const Plan> plan;
    int start_rank = 0;        // in the plan
    std::string start_key;     // "<host>:<local rank>" there
    std::uint64_t number = 0;  // of its start: grows
    Epoch held{};              // the world that it was given last
    std::optional<Waiter> waiter;
    bool told_ready = false;  // of a newcomer
    bool misplaced = false;
    std::optional<HorovodListener> listener;

    bool IsNewcomer() const { return held == Epoch{}; }
    bool Waits() const { return waiter.has_value(); }
  };

  Process* Find(const WorkerId& worker);
  void Speak(Effects& effects);
  void TellReady(Effects& effects);
  bool IsDue(const Process& newcomer) const;
  bool Fits(const WorkerId& worker, const Process& newcomer) const;
  void FindMisplaced(Effects& effects);
  bool CanHandOut() const;
  void Settle(Effects& effects);
  void HandOut(Effects& effects);

  std::map<WorkerId, Process> processes_;  // that have not ended
  std::uint64_t last_number_ = 0;
  World target_;                                       // published
  World current_;                                      // handed out
  std::map<std::string, WorkerId, std::less<>> keys_;  // of current_
  // Some worker used what only elastic Horovod programs use. Until then the
  // job's workers may be of any kind, and nothing is said about them.
  bool speaks_ = false;
};

}  // namespace hvd
