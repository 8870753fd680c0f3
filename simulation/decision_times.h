// DecisionTimes: how long a driver's decisions took, kind by kind.
//
// Pure: what was measured in, a table out.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "simulation/simulated_job.h"

namespace hvd {

class DecisionTimes {
 public:
  void Add(const Decision& decision);

  // A line for each kind of event, one for all, and which one was slowest; no
  // newline at the end.
  std::string Table() const;

 private:
  std::array<std::vector<std::chrono::nanoseconds>, std::variant_size_v<Event>>
      by_kind_;
  std::array<std::string, std::variant_size_v<Event>> words_;
  std::chrono::nanoseconds slowest_{-1};
  Duration slowest_at_{0};
  std::string slowest_word_;
};

}  // namespace hvd
