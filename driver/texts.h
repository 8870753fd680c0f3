// Words and waits that the driver's files share.
#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "base/process.h"
#include "discovery/hosts.h"
#include "rendezvous/world.h"

namespace hvd {

// Of thousands of hosts or ranges of ranks a line names so many.
inline constexpr std::size_t kMostNamed = 16;

// How long after its SIGKILL a worker's end may take to be seen before we leave
// without it. Longer than the launcher's own patience, which speaks first.
inline constexpr Duration kGiveUpAfterKill{10'000};

// How long a rank that has left the ring, by the word of others, may take to
// end: exit handlers, a core dump. One that takes longer goes on.
inline constexpr Duration kCulpritEnds{5'000};

// "1 worker", "2 workers"
std::string CountText(int count, const std::string& noun);
// "a:2 b:1", "no host", "512 hosts, h0:8 to h511:8"
std::string HostsText(const HostList& hosts);
// "was killed by SIGKILL", "exited with code 3"
std::string EndText(const ExitStatus& status);
std::string EpochText(Epoch epoch);

}  // namespace hvd
