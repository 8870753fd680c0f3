// SimulationSpec: which hosts a simulated job has, and what goes wrong when.
//
// Pure: the text of --simulate in, plain data or one error out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hvd {

enum class FaultKind {
  kKill,   // a worker is killed
  kHang,   // a worker does nothing any more until it is killed
  kBad,    // from now on every worker of a slot fails instead of coming
  kSlow,   // from now on workers of a slot take ten times as long to come
  kLeave,  // a host is not listed any more
  kLose,   // a host dies with its workers
  kCome,   // a host is listed, again or for the first time
};

// "kill"
std::string_view ToText(FaultKind kind);

struct Fault {
  FaultKind kind{};
  Duration at{0};
  std::string where;  // "h3" or, where a slot is meant, "h3/2"; empty: any
};

struct SimulationSpec {
  int hosts = 4;  // h0, h1, ...
  int slots = 2;  // of each
  std::uint32_t seed = 1;
  Duration length{600'000};   // then the workers are done
  Duration start{2'000};      // from a worker's start until it is ready
  Duration commit{1'000};     // from one commit of a worker to its next
  std::vector<Fault> faults;  // in time
};

// "hosts=512,slots=8,kill=20,lose@90=h3": "kill=20" is 20 times, at moments
// that the seed picks; "kill@90" once, at second 90; "kill@90=h3/2" there. What
// is left out has the values above. kInvalidArgument names the item.
Result<SimulationSpec> ParseSimulationSpec(std::string_view text);

}  // namespace hvd
