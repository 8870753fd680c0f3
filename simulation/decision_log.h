// DecisionLog: what a driver decided, as lines that stay few though workers are
// many.
//
// Pure. The words are those of driver/explain.h.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "simulation/simulated_job.h"

namespace hvd {

class DecisionLog {
 public:
  enum class Detail {
    kShort,  // many alike are counted
    kFull    // every event and every action
  };
  using Print = std::function<void(const std::string& lines)>;

  DecisionLog(Detail detail, Print print);

  void Add(const Decision& decision);
  void AddFault(Duration at, const std::string& text);
  // Prints what it still holds back.
  void Finish();

 private:
  void AddQuiet(const Decision& decision);

  Detail detail_;
  Print print_;
  // Events since the last line on which nothing was decided.
  std::map<std::string, int> quiet_;
  Duration quiet_since_{0};
  Duration quiet_until_{0};
};

}  // namespace hvd
