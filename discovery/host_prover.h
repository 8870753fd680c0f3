// HostProver: makes sure that hosts can be used: something there starts
// workers, and they and the others' workers reach each other.
//
// The interface; how that is done is not discovery's business. Loop thread
// only.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "discovery/hosts.h"

namespace hvd {

class HostProver {
 public:
  // Called on the loop, never from inside Want(), and not after destruction.
  // Each may destroy the prover.
  struct Handlers {
    std::function<void(const std::string& host)> on_proved;
    // It can't be used, for now, or ever by the error's code: kUnavailable and
    // kTimeout may pass.
    std::function<void(const std::string& host, Error)> on_failed;
    // It had been proved.
    std::function<void(const std::string& host, Error)> on_lost;
  };

  virtual ~HostProver() = default;
  // Once, before Want().
  virtual void Start(Handlers handlers) = 0;
  // All the hosts that are wanted now; the others are given up, once nothing
  // runs there any more. One that has failed or was lost before is tried anew.
  // on_proved answers for each host that was not wanted before.
  virtual void Want(const HostList& hosts) = 0;
};

}  // namespace hvd
