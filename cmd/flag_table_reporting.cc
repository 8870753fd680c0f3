#include "cmd/flag_table_reporting.h"

namespace hvd {
namespace {

using enum FlagGroup;
using enum FlagId;

constexpr bool kTheirs = true;  // horovodrun's
constexpr bool kOurs = false;

constexpr Flag kFlags[] = {
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
    {kHostTimeout,
     kTime,
     "--host-timeout",
     {},
     "S",
     kOurs,
     "how long another host may say nothing before it is given up; default: "
     "15"},
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
    {kCheckHosts,
     kInstead,
     "--check-hosts",
     {},
     "",
     kOurs,
     "start an agent on every host, print who reaches whom and how fast, end "
     "them; needs no command; 125 if a host cannot be used (see "
     "docs/hosts.md)"},
    {kSimulate,
     kInstead,
     "--simulate",
     {},
     "SPEC",
     kOurs,
     "print what hvdrun would decide, and how fast, on simulated hosts with "
     "faults: hosts=512,slots=8,kill=20,lose@90=h3; needs no command (see "
     "docs/elastic.md)"},
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

std::span<const Flag> FlagsOfTimeAndReporting() { return kFlags; }

}  // namespace hvd
