#include "cmd/flag_table.h"

namespace hvd {
namespace {

using enum FlagGroup;
using enum FlagId;

constexpr bool kTheirs = true;  // horovodrun's
constexpr bool kOurs = false;

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
     "host:slots,host:slots,...; a host without a count has 1 slot; IPv6 in "
     "brackets: [::1]:2; default: this machine, with -np slots"},
    {kHostfile,
     kJob,
     "--hostfile",
     {"-hostfile"},
     "FILE",
     kTheirs,
     "one \"host\", \"host:slots\" or \"host slots=N\" a line; # starts a "
     "comment"},
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

    {kStartTimeout,
     kTime,
     "--start-timeout",
     {},
     "S",
     kTheirs,
     "until all slots are there, and from the first worker that joins to the "
     "last; default: 30"},
    {kTimeout,
     kTime,
     "--timeout",
     {},
     "S",
     kOurs,
     "end the whole job, with exit code 124; default: none"},
    {kCollectiveTimeout,
     kTime,
     "--collective-timeout",
     {},
     "S",
     kOurs,
     "how long a worker waits in one operation for a silent peer; default: "
     "300"},
    {kStopGrace,
     kTime,
     "--stop-grace-secs",
     {},
     "S",
     kOurs,
     "from the first signal a worker is stopped with to KILL; that is the "
     "signal hvdrun got, else TERM; default: 10"},

    {kOutput,
     kReporting,
     "--output",
     {},
     "tag|raw|none",
     kOurs,
     "what of the workers' output is shown here: lines with a prefix, bytes "
     "unchanged, nothing; default: tag"},
    {kPrefixTimestamp,
     kReporting,
     "--prefix-output-with-timestamp",
     {"-prefix-timestamp"},
     "",
     kTheirs,
     "put the time before the prefix"},
    {kOutputFilename,
     kReporting,
     "--output-filename",
     {},
     "DIR",
     kTheirs,
     "also write DIR/rank.N/stdout and DIR/rank.N/stderr; DIR is made"},
    {kOutputFiles,
     kReporting,
     "--output-files",
     {},
     "tee|only",
     kOurs,
     "with --output-filename: here and in files, or only in files; default: "
     "tee"},
    {kDriverLog,
     kReporting,
     "--driver-log",
     {},
     "all|callback-only",
     kOurs,
     "callback-only: here only what workers say with hvd::LogToDriver, the "
     "rest in the files of --output-filename; default: all"},
    {kResultFile,
     kReporting,
     "--result-file",
     {},
     "FILE",
     kOurs,
     "what rank 0 gave hvd::SetResult, written if the job succeeds"},
    {kReport,
     kReporting,
     "--report",
     {},
     "FILE",
     kOurs,
     "how the job went, as JSON: times, ranks, exits, the first failure"},
    {kVerbose,
     kReporting,
     "--verbose",
     {},
     "",
     kTheirs,
     "say what hvdrun does; variables are logged by name only"},
    {kLogLevel,
     kReporting,
     "--log-level",
     {},
     "LEVEL",
     kTheirs,
     "TRACE, DEBUG, INFO, WARNING, ERROR or FATAL; workers get it as "
     "HOROVOD_LOG_LEVEL"},
    {kExplain,
     kReporting,
     "--explain",
     {},
     "",
     kOurs,
     "print every event and what hvdrun decides on it"},

    {kDryRun,
     kInstead,
     "--dry-run",
     {},
     "",
     kOurs,
     "print hosts, ranks, environment and commands; start nothing"},
    {kCheckBuild,
     kInstead,
     "--check-build",
     {"-cb"},
     "",
     kTheirs,
     "print what this build can do"},
    {kVersion, kInstead, "--version", {"-v"}, "", kTheirs, "print the version"},
    {kHelp, kInstead, "--help", {"-h"}, "", kTheirs, "print this"},
};

}  // namespace

std::span<const Flag> AllFlags() { return kFlags; }

std::string VariableName(const Flag& flag) {
  std::string name = "HVDRUN_";
  for (const char c : flag.name.substr(2)) {
    const bool lower = c >= 'a' && c <= 'z';
    name += c == '-' ? '_' : static_cast<char>(lower ? c - 'a' + 'A' : c);
  }
  return name;
}

}  // namespace hvd
