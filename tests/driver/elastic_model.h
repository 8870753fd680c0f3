// ElasticModel: an elastic job without its outside. The true driver, and a
// model of all that it talks to: launcher, rendezvous, workers and hosts.
//
// Whatever breaks a rule of docs/design/driver.md is thrown as Violation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/elastic_driver.h"

namespace hvd::testing {

class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Move {
  enum class Kind {
    // What has to happen sooner or later.
    kStart,   // a worker that was asked for runs
    kAsk,     // a worker asks for its world
    kGoHome,  // a worker that is not wanted any more exits with 0
    kObey,    // a worker that was told to stop ends
    kMissed,  // it is noticed that a worker hangs
    // What may happen.
    kFailToStart,
    kCrash,
    kFinish,  // exits with 0 of its own will
    kHang,    // does nothing any more until it is killed
    kHosts,   // the n-th list of the menu is discovered
    kLose,    // the host of launch n is lost
    kWait,    // time passes until the driver's next deadline
  };
  Kind kind{};
  int n = 0;  // which launch, or which list
};

std::string ToText(const Move& move);

// Between the driver and the model: a test of the checker bends what passes.
struct Fault {
  // false: the driver never hears of it.
  std::function<bool(const Event&)> hears = [](const Event&) { return true; };
  // What becomes of the driver's actions.
  std::function<void(std::vector<Action>&)> bends = [](std::vector<Action>&) {};
};

class ElasticModel {
 public:
  ElasticModel(const DriverOptions& options, std::vector<HostList> menu,
               const Fault* fault = nullptr);

  std::vector<Move> Duties() const;   // what has to happen
  std::vector<Move> Hazards() const;  // what may
  void Do(const Move& move);

  bool ended() const { return ended_; }
  const Outcome& outcome() const { return outcome_; }
  // A whole world trains, and nobody is on its way in or out.
  bool Steady() const;
  std::string Describe() const;

  // From here on only duties are done and time passes: throws unless that leads
  // to a steady world or to the end.
  void MustSettle() const;

 private:
  struct Process {
    WorkerId id;
    bool runs = false;
    bool asks = false;
    bool spoke = false;
    bool hangs = false;
    bool missed = false;
    bool told_to_stop = false;
    bool was_member = false;  // of some world, formed or not
    Epoch held{};
  };

  void Feed(const Event& event);
  void Perform(const PublishWorld& action);
  void Perform(const StartWorker& action);
  void Perform(const StopWorker& action);
  void Perform(const NotifyLoss& action);
  void Perform(const Say& action);
  void Perform(const EndJob& action);

  void NoteFailure(const Process& process);
  bool IsListed(const WorkerId& id) const;
  bool InWorld(const WorkerId& id) const;
  void LoseHost(const std::string& host);
  bool MayAsk(const Process& process) const;
  bool RingIsBroken() const;
  void FormIfAllAsk();
  void End(int launch, ExitStatus status);
  void Require(bool holds, const std::string& rule) const;

  DriverOptions options_;
  std::vector<HostList> menu_;
  const Fault* fault_;
  Instant now_{};
  ElasticDriver driver_;
  World world_;
  bool formed_ = false;
  bool spoiled_ = false;  // a member is lost: it is not handed out any more
  int list_ = -1;         // of the menu; -1: none yet
  std::set<std::string> lost_;        // hosts, since that list
  std::set<WorkerId> gone_;           // members of the world that have ended
  std::map<int, Process> processes_;  // by launch; the living
  std::map<WorkerId, int> failures_;  // of each slot
  bool ended_ = false;
  Outcome outcome_;
};

}  // namespace hvd::testing
