// StartProgress: which hosts are missing, and what each of them waits for.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "launcher/bootstrap.h"

namespace hvd {

struct MissingHost {
  std::string host;
  StartPhase phase = StartPhase::kConnect;
  std::string reason;  // why the last try ended; empty: none has
  int tries = 0;       // the one that runs included; 0: none was made yet
};

// "waiting for hosts: b (connect: Connection refused, try 3), c (agent
// starts)"; the first ten, and how many more. Empty for none.
std::string WaitingText(const std::vector<MissingHost>& missing);

}  // namespace hvd
