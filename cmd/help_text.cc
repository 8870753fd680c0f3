#include "cmd/help_text.h"

#include <algorithm>
#include <string_view>

#include "cmd/exit_code.h"
#include "cmd/flag_table.h"

namespace hvd {
namespace {

constexpr std::size_t kColumn = 26;  // where explanations begin
constexpr std::size_t kWidth = 80;

constexpr std::string_view kIntro =
    R"(usage: hvdrun [flags] command [arguments]

Starts the command as workers that find each other, shows what they print, and
ends as they end. The first word that is no flag is the command: it and all
after it are passed on as they are.

  hvdrun -np 4 ./train --epochs 3
  hvdrun -np 4 -H localhost:2,127.0.0.2:2 python train.py
  hvdrun -np 4 --min-np 2 --host-discovery-script ./hosts.sh ./train
)";

constexpr std::string_view kOutro = R"(
Output: a worker's line is shown as "[3]<stdout>:text", 3 being its rank. What
hvdrun itself says goes to stderr and starts with "hvdrun". Ranks are given host
by host, in the order listed; a host named twice has the sum of its slots.

Each flag can be given as a variable: --start-timeout as HVDRUN_START_TIMEOUT,
a switch as 1 or 0, --env with one entry a line. A flag wins over its variable,
a variable over the default. Flags may be shortened as long as they stay clear.
)";

// Adds `text` from `column` on, broken at blanks; the cursor is at `at`.
void AddWrapped(std::string& out, std::size_t at, std::size_t column,
                std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (at > column && at + 1 + word.size() > kWidth) {
      out += '\n';
      at = 0;
    }
    if (at < column) {
      out.append(column - at, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  out += '\n';
}

// "  -H, --hosts LIST"; aliases of more than three letters are for scripts
// written for horovodrun and stay out of sight, as does -n.
std::string Names(const Flag& flag) {
  std::string names = "  ";
  for (const std::string_view alias : flag.aliases) {
    if (alias.empty() || alias.size() > 3 || alias == "-n") continue;
    names.append(alias).append(", ");
  }
  names += flag.name;
  if (!flag.value.empty()) names.append(" ").append(flag.value);
  return names;
}

void AddGroup(std::string& out, FlagGroup group, std::string_view title) {
  out.append("\n").append(title).append("\n");
  for (const Flag& flag : AllFlags()) {
    if (flag.group != group) continue;
    const std::string names = Names(flag);
    out += names;
    std::size_t at = names.size();
    if (at + 2 > kColumn) {
      out += '\n';
      at = 0;
    }
    AddWrapped(out, at, kColumn, flag.help);
  }
}

void AddExitCodes(std::string& out) {
  constexpr std::size_t kCodeColumn = 18;
  out += "\nExit code, by the first cause:\n";
  for (const ExitRule& rule : ExitRules()) {
    out.append("  ").append(rule.code);
    AddWrapped(out, 2 + rule.code.size(), kCodeColumn, rule.when);
  }
}

}  // namespace

std::string HelpText() {
  std::string out(kIntro);
  AddGroup(out, FlagGroup::kJob, "Workers and hosts");
  AddGroup(out, FlagGroup::kElastic, "Workers and hosts that come and go");
  AddGroup(out, FlagGroup::kRemote, "Hosts other than this machine");
  AddGroup(out, FlagGroup::kNetwork, "Network");
  AddGroup(out, FlagGroup::kTime, "Limits, in seconds (0.5 is fine)");
  AddGroup(out, FlagGroup::kReporting, "Output");
  AddGroup(out, FlagGroup::kInstead, "Instead of running anything");
  out += kOutro;
  AddExitCodes(out);
  return out;
}

}  // namespace hvd
