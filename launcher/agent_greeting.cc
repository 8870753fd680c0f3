#include "launcher/agent_greeting.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hvd {
namespace {

constexpr std::string_view kLoginMark = "HVDRUN-LOGIN";
constexpr std::string_view kAgentMark = "HVDRUN-AGENT ";

// "1 0.1.0"
std::optional<AgentGreeting> ParseGreeting(std::string_view text) {
  AgentGreeting greeting;
  const char* const end = text.data() + text.size();
  const auto [after, error] =
      std::from_chars(text.data(), end, greeting.protocol);
  if (error != std::errc() || greeting.protocol < 0 || after == end ||
      *after != ' ') {
    return std::nullopt;
  }
  greeting.program_version.assign(after + 1, end);
  const auto is_printable = [](char c) { return c > ' ' && c <= '~'; };
  if (greeting.program_version.empty() ||
      !std::all_of(greeting.program_version.begin(),
                   greeting.program_version.end(), is_printable)) {
    return std::nullopt;
  }
  return greeting;
}

}  // namespace

std::string_view LoginMark() { return kLoginMark; }

std::string GreetingLine(std::string_view program_version) {
  return std::string(kAgentMark) + std::to_string(kAgentProtocol) + ' ' +
         std::string(program_version) + '\n';
}

std::vector<std::string> GreetingScan::Feed(std::string_view bytes) {
  std::vector<std::string> others;
  seen_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t newline = std::min(bytes.find('\n'), bytes.size());
    line_.append(bytes.substr(0, newline));
    if (line_.size() > kLongestLine) {
      line_.erase(0, line_.size() - kLongestLine);
    }
    if (newline == bytes.size()) break;
    bytes.remove_prefix(newline + 1);
    OnLine(others);
  }
  return others;
}

std::string GreetingScan::Rest() { return std::exchange(line_, {}); }

// A mark counts at the end of its line, whatever a shell has left before it.
void GreetingScan::OnLine(std::vector<std::string>& others) {
  std::string line = std::exchange(line_, {});
  if (line.ends_with('\r')) line.pop_back();
  std::string_view before = line;
  if (!logged_in_ && before.ends_with(kLoginMark)) {
    logged_in_ = true;
    before.remove_suffix(kLoginMark.size());
  } else if (const std::size_t mark = before.rfind(kAgentMark);
             !greeting_ && mark != std::string_view::npos) {
    greeting_ = ParseGreeting(before.substr(mark + kAgentMark.size()));
    if (greeting_) before = before.substr(0, mark);
  }
  if (!before.empty()) others.emplace_back(before);
}

}  // namespace hvd
