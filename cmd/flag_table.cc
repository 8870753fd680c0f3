#include "cmd/flag_table.h"

#include <iterator>
#include <vector>

#include "cmd/flag_table_reporting.h"

namespace hvd {
namespace {

using enum FlagGroup;
using enum FlagId;

constexpr bool kTheirs = true;  // horovodrun's
constexpr bool kOurs = false;

// Which workers, where, and how they may change.
constexpr Flag kFlags[] = {
    {kNumProc,
     kJob,
     "--num-proc",
     {"-np", "-n"},
     "N",
     kTheirs,
     "workers to start; default: one for each slot of the given hosts. "
     "-np -4 runs four on this machine, whatever the host flags say"},
    {kHosts,
     kJob,
     "--hosts",
     {"-H"},
     "LIST",
     kTheirs,
     "host:slots,user@host:slots,...; a host without a count has 1 slot; IPv6 "
     "in brackets: [::1]:2; default: this machine, with -np slots"},
    {kHostfile,
     kJob,
     "--hostfile",
     {"-hostfile"},
     "FILE",
     kTheirs,
     "one \"host\", \"user@host:slots\" or \"host slots=N port=N\" a line; # "
     "starts a comment"},
    {kEnv,
     kJob,
     "--env",
     {},
     "NAME[=VALUE]",
     kOurs,
     "give every worker this variable; without a value: what hvdrun itself "
     "has; may be repeated"},
    {kRankEnv,
     kJob,
     "--rank-env",
     {},
     "mpi",
     kOurs,
     "also export the ranks as Open MPI and MPICH do (OMPI_..., PMI_...)"},
    {kStdin,
     kJob,
     "--stdin",
     {},
     "RANK|none",
     kOurs,
     "the worker that reads hvdrun's stdin; the others read end of file; "
     "default: 0"},

    {kMinNp,
     kElastic,
     "--min-np",
     {"--min-num-proc"},
     "N",
     kTheirs,
     "fewest workers to train with; this or the next four make a job "
     "elastic; default: -np"},
    {kMaxNp,
     kElastic,
     "--max-np",
     {"--max-num-proc"},
     "N",
     kTheirs,
     "most workers; default: as many as there are slots"},
    {kScript,
     kElastic,
     "--host-discovery-script",
     {},
     "CMD",
     kTheirs,
     "prints the hosts there are now, one \"host\" or \"host:slots\" a line; "
     "run "
     "by /bin/sh again and again"},
    {kWatchHosts,
     kElastic,
     "--watch-hosts",
     {},
     "FILE",
     kOurs,
     "the same from a file; each change of it counts at once"},
    {kControlFile,
     kElastic,
     "--control-file",
     {},
     "FILE",
     kOurs,
     "write FILE, with which scripts push hosts while the job runs: curl "
     "--config FILE --upload-file hosts"},
    {kSlotsPerHost,
     kElastic,
     "--slots-per-host",
     {"--slots"},
     "N",
     kTheirs,
     "slots of a host that is given without a number; default: 1"},
    {kMinHosts,
     kElastic,
     "--min-hosts",
     {},
     "N",
     kOurs,
     "wait at the start until there are so many hosts; default: 1"},
    {kDiscoveryInterval,
     kElastic,
     "--discovery-interval",
     {},
     "S",
     kOurs,
     "from the end of the script to its next run; default: 1"},
    {kDiscoveryTimeout,
     kElastic,
     "--discovery-timeout",
     {},
     "S",
     kOurs,
     "longest run of the script; default: 30"},
    {kElasticTimeout,
     kElastic,
     "--elastic-timeout",
     {},
     "S",
     kTheirs,
     "how long the job may have fewer than --min-np workers, or wait for one "
     "that is busy; default: 600"},
    {kWorkerTimeout,
     kElastic,
     "--worker-timeout",
     {},
     "S",
     kOurs,
     "how long a worker may be stopped, or not heard of while others wait for "
     "it, before it is replaced; 0: for ever; default: 30"},
    {kResetLimit,
     kElastic,
     "--reset-limit",
     {},
     "N",
     kTheirs,
     "changes of the world after which the next one ends the job; default: "
     "none"},
    {kElasticMode,
     kElastic,
     "--elastic-mode",
     {},
     "MODE",
     kOurs,
     "keep: who survives keeps its process and asks for the next world, as "
     "libhvd and Horovod do; restart: all workers are started again for it, as "
     "with torchrun; default: restart, unless one of them has asked"},
    {kMaxRestarts,
     kElastic,
     "--max-restarts",
     {},
     "N",
     kOurs,
     "failures of workers within --restart-window after which the next one "
     "ends the job; default: 10 + 2 * np"},
    {kRestartWindow,
     kElastic,
     "--restart-window",
     {},
     "S",
     kOurs,
     "how long a failure counts; default: 3600"},
    {kSlotFailures,
     kElastic,
     "--slot-failures",
     {},
     "N",
     kOurs,
     "failures after which a slot is not used any more; default: 3"},
    {kCooldownRange,
     kElastic,
     "--blacklist-cooldown-range",
     {},
     "MIN MAX",
     kTheirs,
     "how long a slot rests after its second failure, doubled each time up "
     "to MAX; given, a slot comes back even after --slot-failures; default: "
     "1 60"},

    {kSshPort,
     kRemote,
     "--ssh-port",
     {"-p"},
     "PORT",
     kTheirs,
     "of hosts that name none; default: what ssh's configuration says"},
    {kSshIdentityFile,
     kRemote,
     "--ssh-identity-file",
     {"-i"},
     "FILE",
     kTheirs,
     "the key to log in with; default: those that ssh chooses"},
    {kSshArgs,
     kRemote,
     "--ssh-args",
     {},
     "WORDS",
     kOurs,
     "options for ssh, quoted as for a shell: \"-o 'ProxyJump gate'\"; they "
     "come "
     "before hvdrun's own, so they count"},
    {kRemoteShell,
     kRemote,
     "--remote-shell",
     {},
     "CMD",
     kOurs,
     "in place of ssh, called as CMD host command; see docs/hosts.md"},
    {kAgentPath,
     kRemote,
     "--agent-path",
     {},
     "PATH",
     kOurs,
     "of hvdrun-agent on the hosts; default: as here, else in the PATH there"},
    {kInstallAgent,
     kRemote,
     "--install-agent",
     {},
     "",
     kOurs,
     "bring hvdrun-agent along; nothing of it stays on the hosts"},
    {kConnectConcurrency,
     kRemote,
     "--connect-concurrency",
     {},
     "N",
     kOurs,
     "hosts that are connected to at once; default: 32"},
    {kFanOut,
     kRemote,
     "--fan-out",
     {},
     "N",
     kOurs,
     "hosts that one machine starts at most; beyond, hosts start hosts; "
     "default: 32"},
    {kNetworkInterfaces,
     kNetwork,
     "--network-interfaces",
     {"--network-interface"},
     "LIST",
     kTheirs,
     "use only these, where a host has them: eth0,ib0; may be repeated; "
     "default: on each host the one by which all others reach it"},
    {kPortRange,
     kNetwork,
     "--port-range",
     {},
     "A-B",
     kOurs,
     "TCP ports for everything of hvdrun's that listens, on every host; "
     "default: the kernel chooses"},
};

}  // namespace

std::span<const Flag> AllFlags() {
  static const std::vector<Flag> all = [] {
    std::vector<Flag> flags(std::begin(kFlags), std::end(kFlags));
    const std::span<const Flag> more = FlagsOfTimeAndReporting();
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }();
  return all;
}

std::string VariableName(const Flag& flag) {
  std::string name = "HVDRUN_";
  for (const char c : flag.name.substr(2)) {
    const bool lower = c >= 'a' && c <= 'z';
    name += c == '-' ? '_' : static_cast<char>(lower ? c - 'a' + 'A' : c);
  }
  return name;
}

}  // namespace hvd
