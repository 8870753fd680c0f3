// JobRules: looks on while an elastic job is simulated, and says which rule of
// docs/design/driver.md is broken first.
#pragma once

#include <map>
#include <set>
#include <string>

#include "driver/driver_options.h"
#include "simulation/simulated_job.h"

namespace hvd::testing {

class JobRules {
 public:
  explicit JobRules(const DriverOptions& options) : options_(options) {}

  void Watch(const Decision& decision);

  // Empty: none.
  const std::string& broken() const { return broken_; }
  int worlds() const { return worlds_; }

 private:
  struct Life {
    WorkerId id;
    bool runs = false;
  };

  void Hear(const Event& event);
  void See(const PublishWorld& action);
  void See(const StartWorker& action);
  void See(const StopWorker& action);
  void See(const NotifyLoss& action);
  void See(const Say& action);
  void See(const EndJob& action);
  void Require(bool holds, const std::string& rule);

  DriverOptions options_;
  std::map<std::string, int> listed_;
  std::map<LaunchId, Life> lives_;
  std::set<WorkerId> taken_;          // by a life
  std::map<WorkerId, Epoch> held_;    // what each has that asked, and lives
  std::map<WorkerId, int> failures_;  // exits with another code than 0
  std::set<LaunchId> stopped_;
  LaunchId last_launch_{};
  World world_;
  bool ended_ = false;
  int worlds_ = 0;
  std::string now_;  // the decision being looked at
  std::string broken_;
};

}  // namespace hvd::testing
