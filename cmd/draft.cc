#include "cmd/draft.h"

#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/seconds.h"

namespace hvd {
namespace {

std::optional<int> ParseInt(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return number;
}

Status SetNumProc(const FlagUse& use, Draft& draft) {
  const std::optional<int> np = ParseInt(use.value);
  if (!np) return Refuse(use, "must be a whole number");
  if (*np == 0) {
    return Refuse(use, "must not be 0")
        .WithHint("-np 4 starts four workers, -np -4 four on this machine");
  }
  if (*np > kMaxSlots || *np < -kMaxSlots) {
    return Refuse(use, "must be at most " + std::to_string(kMaxSlots));
  }
  draft.np = np;
  draft.np_written = use.written;
  return Done{};
}

enum class Zero { kAllowed, kRefused };

template <class Target>
Status SetSeconds(const FlagUse& use, Zero zero, Target& target) {
  const Result<Duration> parsed = ParseSeconds(use.value);
  if (!parsed.ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 use.written + ' ' + parsed.error().message()};
  }
  if (zero == Zero::kRefused && parsed.value() == Duration{0}) {
    return Refuse(use, "must be more than 0 seconds");
  }
  target = parsed.value();
  return Done{};
}

template <class Target>
Status SetCount(const FlagUse& use, int least, Target& target) {
  const std::optional<int> count = ParseInt(use.value);
  if (!count || *count < least || *count > kMaxSlots) {
    return Refuse(use, "must be a whole number from " + std::to_string(least) +
                           " to " + std::to_string(kMaxSlots));
  }
  target = *count;
  return Done{};
}

// 0 turns it off.
Status SetWorkerTimeout(const FlagUse& use, Draft& draft) {
  Duration limit{0};
  Status set = SetSeconds(use, Zero::kAllowed, limit);
  std::optional<Duration>& target = draft.settings.elasticity.worker_timeout;
  target = limit == Duration{0} ? std::nullopt : std::optional(limit);
  return set;
}

// "1 60"
Status SetCooldown(const FlagUse& use, Draft& draft) {
  const std::size_t blank = std::min(use.value.find(' '), use.value.size());
  const auto first = ParseSeconds(use.value.substr(0, blank));
  const auto longest =
      ParseSeconds(blank < use.value.size() ? use.value.substr(blank + 1) : "");
  if (!first.ok() || !longest.ok() || first.value() == Duration{0} ||
      first.value() > longest.value()) {
    return Refuse(use,
                  "must be two times in seconds, MIN above 0 and at most "
                  "MAX");
  }
  draft.settings.elasticity.cooldown = Cooldown{first.value(), longest.value()};
  return Done{};
}

template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

constexpr Word<RankEnv> kRankEnvs[] = {{"mpi", RankEnv::kMpi}};
constexpr Word<OutputMode> kOutputModes[] = {{"tag", OutputMode::kTag},
                                             {"raw", OutputMode::kRaw},
                                             {"none", OutputMode::kNone}};
constexpr Word<OutputFilesMode> kOutputFileModes[] = {
    {"tee", OutputFilesMode::kTee}, {"only", OutputFilesMode::kOnly}};
constexpr Word<ElasticMode> kElasticModes[] = {
    {"keep", ElasticMode::kKeep}, {"restart", ElasticMode::kRestart}};
constexpr Word<DriverLog> kDriverLogs[] = {
    {"all", DriverLog::kAll}, {"callback-only", DriverLog::kCallbackOnly}};

template <class Enum, std::size_t N>
Status SetWord(const FlagUse& use, const Word<Enum> (&words)[N], Enum& target) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == use.value) {
      target = value;
      return Done{};
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return Refuse(use, (N == 1 ? "must be " : "must be one of ") + known);
}

Status SetText(const FlagUse& use, std::string& target) {
  if (use.value.empty()) return Refuse(use, "must not be empty");
  target = use.value;
  return Done{};
}

Status SetTrue(bool& target) {
  target = true;
  return Done{};
}

Status Keep(const FlagUse& use, std::optional<FlagUse>& target) {
  target = use;
  return Done{};
}

Status SetStdin(const FlagUse& use, Draft& draft) {
  if (use.value == "none") {
    draft.settings.stdin_rank.reset();
    return Done{};
  }
  const std::optional<int> rank = ParseInt(use.value);
  if (!rank || *rank < 0) return Refuse(use, "must be a rank or none");
  draft.settings.stdin_rank = rank;
  return Done{};
}

Status SetLogLevel(const FlagUse& use, Draft& draft) {
  const Result<LogLevel> level = ParseLogLevel(use.value);
  if (!level.ok()) {
    return Refuse(use,
                  "must be one of TRACE, DEBUG, INFO, WARNING, ERROR, FATAL");
  }
  draft.settings.log_level = level.value();
  return Done{};
}

Status AddOneEnv(const FlagUse& use, std::string_view entry, Draft& draft) {
  const std::size_t equals = entry.find('=');
  EnvRequest request{std::string(entry.substr(0, equals)), std::nullopt};
  if (request.name.empty()) return Refuse(use, "must be NAME or NAME=VALUE");
  if (equals != std::string_view::npos) {
    request.value = std::string(entry.substr(equals + 1));
  }
  draft.settings.env.push_back(std::move(request));
  return Done{};
}

// HVDRUN_ENV holds one entry a line.
Status AddEnv(const FlagUse& use, Draft& draft) {
  if (use.written == use.flag->name) return AddOneEnv(use, use.value, draft);
  std::string_view left = use.value;
  while (!left.empty()) {
    const std::size_t newline = std::min(left.find('\n'), left.size());
    const std::string_view entry = left.substr(0, newline);
    left.remove_prefix(std::min(newline + 1, left.size()));
    if (entry.empty()) continue;
    Status added = AddOneEnv(use, entry, draft);
    if (!added.ok()) return added;
  }
  return Done{};
}

// One or more, separated by commas; blanks around them are nobody's intention.
Status AddInterfaces(const FlagUse& use, Draft& draft) {
  std::string_view left = use.value;
  for (bool more = true; more;) {
    const std::size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    std::string_view name = left.substr(0, comma);
    left.remove_prefix(more ? comma + 1 : left.size());
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty() || name.size() >= IFNAMSIZ ||
        name.find_first_of(" /:\t\n") != std::string_view::npos) {
      return Refuse(use, "must be names of interfaces, such as eth0,ib0");
    }
    std::vector<std::string>& names = draft.settings.network_interfaces;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  }
  return Done{};
}

Status SetPortRange(const FlagUse& use, Draft& draft) {
  const Result<PortRange> range = ParsePortRange(use.value);
  if (!range.ok()) return Refuse(use, range.error().message());
  draft.settings.port_range = range.value();
  return Done{};
}

// --help, --version, --check-build, --check-hosts, --dry-run and --simulate:
// the first one given counts, but --help always wins.
Status SetMode(RunMode mode, Draft& draft) {
  RunMode& now = draft.settings.mode;
  if (now == RunMode::kRun || mode == RunMode::kHelp) now = mode;
  return Done{};
}

Status SetSimulation(const FlagUse& use, Draft& draft) {
  Result<SimulationSpec> spec = ParseSimulationSpec(use.value);
  if (!spec.ok()) return std::move(spec).error().Wrap(use.written);
  draft.settings.simulation = std::move(spec).value();
  return SetMode(RunMode::kSimulate, draft);
}

}  // namespace

Error Refuse(const FlagUse& use, const std::string& why) {
  return {ErrorCode::kInvalidArgument,
          use.written + ' ' + why + ", got \"" + use.value + '"'};
}

namespace {

// nullopt: not a flag of this kind.
std::optional<Status> ApplyElasticFlag(const FlagUse& use, Draft& draft) {
  ElasticSettings& s = draft.settings.elasticity;
  switch (use.flag->id) {
    case FlagId::kMinNp:
      return SetCount(use, 1, s.min_np);
    case FlagId::kMaxNp:
      return SetCount(use, 1, s.max_np);
    case FlagId::kScript:
      return SetText(use, s.script);
    case FlagId::kWatchHosts:
      return SetText(use, s.watched_file);
    case FlagId::kControlFile:
      return SetText(use, s.control_file);
    case FlagId::kSlotsPerHost:
      return SetCount(use, 1, s.slots_per_host);
    case FlagId::kMinHosts:
      return SetCount(use, 1, s.min_hosts);
    case FlagId::kDiscoveryInterval:
      return SetSeconds(use, Zero::kAllowed, s.discovery_interval);
    case FlagId::kDiscoveryTimeout:
      return SetSeconds(use, Zero::kRefused, s.discovery_timeout);
    case FlagId::kElasticTimeout:
      return SetSeconds(use, Zero::kRefused, s.elastic_timeout);
    case FlagId::kWorkerTimeout:
      return SetWorkerTimeout(use, draft);
    case FlagId::kResetLimit:
      return SetCount(use, 0, s.reset_limit);
    case FlagId::kElasticMode:
      return SetWord(use, kElasticModes, s.mode);
    case FlagId::kMaxRestarts:
      return SetCount(use, 0, s.max_restarts);
    case FlagId::kRestartWindow:
      return SetSeconds(use, Zero::kRefused, s.restart_window);
    case FlagId::kSlotFailures:
      return SetCount(use, 1, s.slot_failures);
    case FlagId::kCooldownRange:
      return SetCooldown(use, draft);
    default:  // the others: ApplyFlag
      return std::nullopt;
  }
}

// The same.
std::optional<Status> ApplyNetworkFlag(const FlagUse& use, Draft& draft) {
  switch (use.flag->id) {
    case FlagId::kNetworkInterfaces:
      return AddInterfaces(use, draft);
    case FlagId::kPortRange:
      return SetPortRange(use, draft);
    default:
      return std::nullopt;
  }
}

// Instead of running anything.
std::optional<Status> ApplyModeFlag(const FlagUse& use, Draft& draft) {
  switch (use.flag->id) {
    case FlagId::kDryRun:
      return SetMode(RunMode::kDryRun, draft);
    case FlagId::kCheckHosts:
      return SetMode(RunMode::kCheckHosts, draft);
    case FlagId::kSimulate:
      return SetSimulation(use, draft);
    case FlagId::kCheckBuild:
      return SetMode(RunMode::kCheckBuild, draft);
    case FlagId::kVersion:
      return SetMode(RunMode::kVersion, draft);
    case FlagId::kHelp:
      return SetMode(RunMode::kHelp, draft);
    default:
      return std::nullopt;
  }
}

// Those that have their own settings.
std::optional<Status> ApplyGroupedFlag(const FlagUse& use, Draft& draft) {
  if (auto applied = ApplyElasticFlag(use, draft)) return applied;
  if (auto applied = ApplyNetworkFlag(use, draft)) return applied;
  if (auto applied = ApplyModeFlag(use, draft)) return applied;
  return ApplyRemoteFlag(use, draft.settings.remote);
}

}  // namespace

Status ApplyFlag(const FlagUse& use, Draft& draft) {
  if (auto applied = ApplyGroupedFlag(use, draft)) return *std::move(applied);
  Settings& s = draft.settings;
  switch (use.flag->id) {
    case FlagId::kNumProc:
      return SetNumProc(use, draft);
    case FlagId::kHosts:
      return Keep(use, draft.hosts);
    case FlagId::kHostfile:
      return Keep(use, draft.hostfile);
    case FlagId::kEnv:
      return AddEnv(use, draft);
    case FlagId::kRankEnv:
      return SetWord(use, kRankEnvs, s.rank_env);
    case FlagId::kStdin:
      return SetStdin(use, draft);
    case FlagId::kStartTimeout:
      return SetSeconds(use, Zero::kRefused, s.start_timeout);
    case FlagId::kTimeout:
      return SetSeconds(use, Zero::kRefused, s.timeout);
    case FlagId::kCollectiveTimeout:
      return SetSeconds(use, Zero::kRefused, s.collective_timeout);
    case FlagId::kHostTimeout:
      return SetSeconds(use, Zero::kRefused, s.host_timeout);
    case FlagId::kStopGrace:
      return SetSeconds(use, Zero::kAllowed, s.stop_grace);
    case FlagId::kOutput:
      return SetWord(use, kOutputModes, s.output);
    case FlagId::kPrefixTimestamp:
      return SetTrue(s.output_timestamps);
    case FlagId::kOutputFilename:
      return SetText(use, s.output_dir);
    case FlagId::kOutputFiles:
      return SetWord(use, kOutputFileModes, s.output_files);
    case FlagId::kDriverLog:
      return SetWord(use, kDriverLogs, s.driver_log);
    case FlagId::kResultFile:
      return SetText(use, s.result_file);
    case FlagId::kReport:
      return SetText(use, s.report_file);
    case FlagId::kVerbose:
      return SetTrue(s.verbose);
    case FlagId::kLogLevel:
      return SetLogLevel(use, draft);
    case FlagId::kExplain:
      return SetTrue(s.explain);
    default:
      break;
  }
  return Error{ErrorCode::kInternal, "flag without a meaning"};
}

}  // namespace hvd
