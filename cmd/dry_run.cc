#include "cmd/dry_run.h"

#include <algorithm>
#include <string_view>

#include "base/shell_quote.h"
#include "driver/worker_registry.h"
#include "rendezvous/worker_env.h"

namespace hvd {
namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

std::string Shown(const std::string& name, const std::string& value) {
  std::string line = "  " + name + '=';
  if (IsSecretVariable(name)) return line + "<secret>\n";
  if (EndsWith(name, "_PORT") && value == "0") {
    return line + "<chosen at start>\n";
  }
  return line + ShellQuote(value) + '\n';
}

bool SameForAll(const std::vector<EnvList>& all, const std::string& name,
                const std::string& value) {
  return std::all_of(all.begin(), all.end(), [&](const EnvList& env) {
    return EnvFind(env, name) == value;
  });
}

std::vector<int> RanksOn(const World& world, const std::string& host) {
  std::vector<int> ranks;
  int rank = 0;
  for (const WorkerId& worker : world.workers) {
    if (worker.host == host) ranks.push_back(rank);
    ++rank;
  }
  return ranks;
}

void AddHosts(const DryRunPlan& plan, std::string& out) {
  for (const HostSlots& host : plan.hosts) {
    const std::vector<int> ranks = RanksOn(plan.world, host.host);
    out += "host " + host.host + ": " + std::to_string(host.slots) +
           (host.slots == 1 ? " slot, " : " slots, ") +
           (ranks.empty() ? "no worker" : RankText(ranks)) + '\n';
  }
}

}  // namespace

std::string DryRunText(const DryRunPlan& plan) {
  std::string out;
  AddHosts(plan, out);
  const std::size_t size = plan.world.workers.size();
  if (size > 1 && !plan.added.empty()) {
    out += "\nadded to the environment of every worker:\n";
    for (const auto& [name, value] : plan.added.front()) {
      if (SameForAll(plan.added, name, value)) out += Shown(name, value);
    }
  }
  std::string command;
  for (const std::string& word : plan.command) {
    command += (command.empty() ? "" : " ") + ShellQuote(word);
  }
  for (std::size_t rank = 0; rank < size; ++rank) {
    const WorkerId& worker = plan.world.workers[rank];
    out += "\nrank " + std::to_string(rank) + " on " + worker.host + " slot " +
           std::to_string(worker.slot) + ": " + command + '\n';
    for (const auto& [name, value] : plan.added[rank]) {
      if (size > 1 && SameForAll(plan.added, name, value)) continue;
      out += Shown(name, value);
    }
  }
  return out;
}

}  // namespace hvd
