// Flag table: every flag of hvdrun, once.
//
// Arguments, HVDRUN_ variables, --help and docs/cli.md are all made from it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace hvd {

enum class FlagId {
  kNumProc,
  kHosts,
  kHostfile,
  kEnv,
  kRankEnv,
  kStdin,
  kMinNp,
  kMaxNp,
  kScript,
  kWatchHosts,
  kControlFile,
  kSlotsPerHost,
  kMinHosts,
  kDiscoveryInterval,
  kDiscoveryTimeout,
  kElasticTimeout,
  kWorkerTimeout,
  kResetLimit,
  kElasticMode,
  kMaxRestarts,
  kRestartWindow,
  kSlotFailures,
  kCooldownRange,
  kSshPort,
  kSshIdentityFile,
  kSshArgs,
  kRemoteShell,
  kAgentPath,
  kInstallAgent,
  kConnectConcurrency,
  kFanOut,
  kNetworkInterfaces,
  kPortRange,
  kStartTimeout,
  kTimeout,
  kCollectiveTimeout,
  kHostTimeout,
  kStopGrace,
  kOutput,
  kPrefixTimestamp,
  kOutputFilename,
  kOutputFiles,
  kDriverLog,
  kResultFile,
  kReport,
  kVerbose,
  kLogLevel,
  kExplain,
  kDryRun,
  kCheckHosts,
  kSimulate,
  kCheckBuild,
  kVersion,
  kHelp,
};

enum class FlagGroup {
  kJob,
  kElastic,
  kRemote,
  kNetwork,
  kTime,
  kReporting,
  kInstead
};

struct Flag {
  FlagId id;
  FlagGroup group;
  std::string_view name;                    // "--hosts"
  std::array<std::string_view, 2> aliases;  // "-H"; empty: none
  std::string_view value;  // "LIST", "MIN MAX"; empty: takes none
  bool horovodrun;         // horovodrun has it too, with the same meaning
  std::string_view help;   // one sentence, wrapped where it is printed
};

std::span<const Flag> AllFlags();

// "HVDRUN_START_TIMEOUT" for --start-timeout.
std::string VariableName(const Flag& flag);

}  // namespace hvd
