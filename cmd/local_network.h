// Local network: the interfaces of a job that has no other machine.
//
// Its workers talk over loopback unless the user names an interface; and a name
// that this machine does not have is told before a library stumbles over it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "cmd/job_plan.h"
#include "discovery/interfaces.h"
#include "discovery/local_host.h"
#include "rendezvous/worker_env.h"

namespace hvd {

// Puts the networks of those hosts that are this machine on the interfaces
// `only`; none: leaves them. kInvalidArgument: it has none of those. Pure.
Status UseInterfaces(const std::vector<std::string>& only,
                     const std::vector<Interface>& interfaces,
                     const std::vector<HostAddress>& hosts,
                     std::map<std::string, HostNetwork>& networks);

// A line for each interface that the user's environment names for NCCL or Gloo
// and that is not there. The value is the workers' all the same. Pure.
std::vector<std::string> UnmatchedHere(
    const EnvList& user, const std::vector<Interface>& interfaces);

// Both, with what the kernel says of this machine; asks it only if it matters.
Status FitToThisMachine(const std::vector<std::string>& only,
                        const std::vector<HostAddress>& hosts, JobPlan& plan,
                        std::vector<std::string>& notes);

}  // namespace hvd
