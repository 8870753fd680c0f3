#include "cmd/settings.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "cmd/arguments.h"
#include "cmd/draft.h"

namespace hvd {
namespace {

Error Invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

std::string HostsText(const HostList& hosts) {
  std::string text;
  for (const HostSlots& host : hosts) {
    text += (text.empty() ? "" : ",") + AsListItem(host);
  }
  return text;
}

std::string Count(int count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

// "b:2", as in "-H a:2 b:2 ./train": a host that lost its comma.
bool LooksLikeHost(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon == 0 ||
      colon + 1 == word.size() || word.find('/') != std::string_view::npos) {
    return false;
  }
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                     word.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

Status CheckCommand(const Arguments& arguments, const Draft& draft) {
  const RunMode mode = draft.settings.mode;
  const bool checks_hosts = mode == RunMode::kCheckHosts;
  if (mode == RunMode::kSimulate) return Done{};
  if (arguments.command.empty()) {
    if (checks_hosts) return Done{};
    return Invalid("the command to run is missing")
        .WithHint("hvdrun -np 2 ./train starts two workers; see --help");
  }
  const std::string& word = arguments.command.front();
  if (word.empty()) return Invalid("the command to run is an empty word");
  if (arguments.dashes_before_command || !LooksLikeHost(word)) {
    if (!checks_hosts) return Done{};
    return Invalid(
        "--check-hosts starts no worker, so it takes no command, "
        "got \"" +
        word + '"');
  }
  const std::string before = draft.hosts ? draft.hosts->value : "a:2";
  return Invalid("the command \"" + word + "\" looks like a host")
      .WithHint("hosts are separated by commas, not blanks: -H " + before +
                ',' + word);
}

// A host flag on the command line beats the other one given as a variable.
Status CheckHostFlags(const std::optional<FlagUse>& hosts,
                      const std::optional<FlagUse>& hostfile) {
  if (!hosts || !hostfile) return Done{};
  return Invalid(hosts->written + " and " + hostfile->written +
                 " exclude each other");
}

Result<HostList> ReadHosts(const Draft& draft, const ReadFile& read_file) {
  if (draft.hosts) {
    Result<HostList> hosts = ParseHostList(
        draft.hosts->value, draft.settings.elasticity.slots_per_host);
    if (!hosts.ok()) {
      return std::move(hosts).error().Wrap(draft.hosts->written);
    }
    if (hosts.value().empty()) return Refuse(*draft.hosts, "names no host");
    return hosts;
  }
  const std::string& path = draft.hostfile->value;
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    return Invalid(draft.hostfile->written + ": " + text.error().message());
  }
  Result<HostList> hosts =
      ParseHostfile(text.value(), "hostfile " + path,
                    draft.settings.elasticity.slots_per_host);
  if (hosts.ok() && hosts.value().empty()) {
    return Invalid("hostfile " + path + " names no host");
  }
  return hosts;
}

Error TooFewSlots(const Draft& draft, const HostList& hosts) {
  const int slots = TotalSlots(hosts);
  HostList enough = hosts;
  enough.back().slots += *draft.np - slots;
  const std::string fewer = ", or -np " + std::to_string(slots);
  return Invalid(draft.np_written + " asks for " + Count(*draft.np, "worker") +
                 ", but there " + (slots == 1 ? "is " : "are ") +
                 Count(slots, "slot") + ": " + HostsText(hosts))
      .WithHint(draft.hosts ? "-H " + HostsText(enough) + fewer
                            : "write \"" + AsHostfileLine(enough.back()) +
                                  "\" in " + draft.hostfile->value + fewer);
}

void RunHere(int workers, const Draft& draft, Settings& settings) {
  settings.np = workers;
  settings.hosts = {{"localhost", workers}};
  std::string note = draft.np_written + ' ' + std::to_string(*draft.np) +
                     ": running " + Count(workers, "worker") +
                     " on this machine";
  if (draft.hosts) note += ", " + draft.hosts->written + " has no effect";
  if (draft.hostfile) note += ", " + draft.hostfile->written + " has no effect";
  ElasticSettings& elastic = settings.elasticity;
  if (elastic.discovers()) note += ", no host is discovered";
  elastic.script.clear();
  elastic.watched_file.clear();
  settings.notes.push_back(std::move(note));
}

// One place only says which hosts there are.
Status CheckSources(const Draft& draft, const Settings& settings) {
  const ElasticSettings& elastic = settings.elasticity;
  std::vector<std::string> asked;
  if (!elastic.script.empty()) asked.emplace_back("--host-discovery-script");
  if (!elastic.watched_file.empty()) asked.emplace_back("--watch-hosts");
  if (settings.mode == RunMode::kSimulate) asked.emplace_back("--simulate");
  if (asked.size() > 1) {
    return Invalid(asked[0] + " and " + asked[1] + " exclude each other");
  }
  const std::optional<FlagUse>& given =
      draft.hosts ? draft.hosts : draft.hostfile;
  if (given) {
    return Invalid(given->written + " and " + asked[0] + " exclude each other");
  }
  return Done{};
}

Status PlaceSimulated(const Draft& draft, Settings& settings) {
  const SimulationSpec& spec = *settings.simulation;
  settings.np = draft.np.value_or(spec.hosts * spec.slots);
  if (settings.np > 0) return CheckSources(draft, settings);
  return Invalid(draft.np_written + ' ' + std::to_string(settings.np) +
                 " runs workers on this machine, --simulate runs none");
}

Status PlaceWorkers(const Draft& draft, const ReadFile& read_file,
                    Settings& settings) {
  if (settings.mode == RunMode::kSimulate) {
    return PlaceSimulated(draft, settings);
  }
  if (draft.np && *draft.np < 0) {
    RunHere(-*draft.np, draft, settings);
    return Done{};
  }
  if (settings.elasticity.discovers()) {
    if (draft.np) settings.np = *draft.np;
    return CheckSources(draft, settings);
  }
  if (!draft.hosts && !draft.hostfile) {
    if (settings.mode == RunMode::kCheckHosts) {
      return Invalid("--check-hosts: which hosts?")
          .WithHint(
              "hvdrun --check-hosts -H a:4,b:4, or --hostfile, "
              "--host-discovery-script, --watch-hosts");
    }
    if (!draft.np) {
      return Invalid("-np is missing: how many workers?")
          .WithHint("hvdrun -np 2 ./train starts two on this machine");
    }
    settings.np = *draft.np;
    settings.hosts = {{"localhost", settings.np}};
    return Done{};
  }
  Status flags = CheckHostFlags(draft.hosts, draft.hostfile);
  if (!flags.ok()) return flags;
  Result<HostList> hosts = ReadHosts(draft, read_file);
  if (!hosts.ok()) return std::move(hosts).error();
  const int slots = TotalSlots(hosts.value());
  if (draft.np.value_or(slots) > slots)
    return TooFewSlots(draft, hosts.value());
  settings.np = draft.np.value_or(slots);
  settings.hosts = std::move(hosts).value();
  return Done{};
}

// -np is what the job starts with, so it lies between the other two.
Status CheckElastic(const Draft& draft, Settings& settings) {
  ElasticSettings& elastic = settings.elasticity;
  settings.elastic = elastic.min_np || elastic.max_np ||
                     elastic.hosts_may_change() ||
                     settings.mode == RunMode::kSimulate;
  if (!settings.elastic) return Done{};
  if (settings.np == 0) settings.np = elastic.min_np.value_or(0);
  if (settings.np == 0) {
    return Invalid("-np is missing: how many workers shall it start with?")
        .WithHint("hvdrun -np 2 --host-discovery-script ./hosts.sh ./train");
  }
  if (!elastic.min_np) elastic.min_np = settings.np;
  const std::string np = draft.np_written + ' ' + std::to_string(settings.np);
  if (*elastic.min_np > settings.np) {
    return Invalid("--min-np " + std::to_string(*elastic.min_np) +
                   " is more than " + np);
  }
  if (elastic.max_np && *elastic.max_np < settings.np) {
    return Invalid("--max-np " + std::to_string(*elastic.max_np) +
                   " is less than " + np);
  }
  return Done{};
}

Status CheckTogether(const Settings& settings) {
  if (settings.stdin_rank && *settings.stdin_rank >= settings.np) {
    return Invalid("--stdin " + std::to_string(*settings.stdin_rank) +
                   ": there is no such rank, only 0 to " +
                   std::to_string(settings.np - 1));
  }
  if (!settings.output_dir.empty()) return Done{};
  if (settings.output_files == OutputFilesMode::kOnly) {
    return Invalid("--output-files only needs --output-filename DIR");
  }
  if (settings.driver_log == DriverLog::kCallbackOnly) {
    return Invalid(
        "--driver-log callback-only needs --output-filename DIR, where the "
        "full output goes");
  }
  return Done{};
}

bool NeedsHosts(RunMode mode) {
  switch (mode) {
    case RunMode::kRun:
    case RunMode::kDryRun:
    case RunMode::kCheckHosts:
    case RunMode::kSimulate:
      return true;
    case RunMode::kCheckBuild:
    case RunMode::kVersion:
    case RunMode::kHelp:
      break;
  }
  return false;
}

void FillEnvRequests(const EnvList& env, Settings& settings) {
  for (EnvRequest& request : settings.env) {
    if (request.value) continue;
    if (const auto value = EnvFind(env, request.name)) {
      request.value = std::string(*value);
    } else {
      settings.notes.push_back("--env " + request.name +
                               ": not set here, so no worker gets it");
    }
  }
  std::erase_if(settings.env,
                [](const EnvRequest& request) { return !request.value; });
}

// Flags after variables, so that a flag wins. The two host flags are one
// choice: either as a flag beats both as variables; and interfaces add up among
// flags only.
Result<Draft> MakeDraft(const std::vector<FlagUse>& variables,
                        const std::vector<FlagUse>& flags) {
  Draft draft;
  for (const FlagUse& use : variables) {
    const Status applied = ApplyFlag(use, draft);
    if (!applied.ok()) return applied.error();
  }
  const auto is_host_flag = [](const FlagUse& use) {
    return use.flag->id == FlagId::kHosts || use.flag->id == FlagId::kHostfile;
  };
  if (std::any_of(flags.begin(), flags.end(), is_host_flag)) {
    draft.hosts.reset();
    draft.hostfile.reset();
  }
  if (std::any_of(flags.begin(), flags.end(), [](const FlagUse& use) {
        return use.flag->id == FlagId::kNetworkInterfaces;
      })) {
    draft.settings.network_interfaces.clear();
  }
  for (const FlagUse& use : flags) {
    const Status applied = ApplyFlag(use, draft);
    if (!applied.ok()) return applied.error();
  }
  return draft;
}

}  // namespace

Result<Settings> ParseSettings(const std::vector<std::string>& words,
                               const EnvList& env, const ReadFile& read_file) {
  std::vector<std::string> notes;
  Result<Arguments> arguments = SplitArguments(words);
  if (!arguments.ok()) return std::move(arguments).error();
  Result<std::vector<FlagUse>> variables = FlagsFromVariables(env, notes);
  if (!variables.ok()) return std::move(variables).error();
  Result<Draft> draft = MakeDraft(variables.value(), arguments.value().flags);
  if (!draft.ok()) return std::move(draft).error();

  Settings settings = draft.value().settings;
  settings.notes = std::move(notes);
  if (!NeedsHosts(settings.mode)) return settings;
  Status status = CheckCommand(arguments.value(), draft.value());
  if (!status.ok()) return std::move(status).error();
  status = PlaceWorkers(draft.value(), read_file, settings);
  if (!status.ok()) return std::move(status).error();
  status = CheckRemote(settings.remote);
  if (!status.ok()) return std::move(status).error();
  // The rest is about workers.
  if (settings.mode == RunMode::kCheckHosts) return settings;
  status = CheckElastic(draft.value(), settings);
  if (!status.ok()) return std::move(status).error();
  status = CheckTogether(settings);
  if (!status.ok()) return std::move(status).error();
  FillEnvRequests(env, settings);
  settings.command = std::move(arguments).value().command;
  return settings;
}

}  // namespace hvd
