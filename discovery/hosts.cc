#include "discovery/hosts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/one_line.h"

namespace hvd {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Error Refuse(std::string why) {
  return {ErrorCode::kInvalidArgument, std::move(why)};
}

Result<int> ParseSlots(std::string_view text) {
  int slots = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, slots);
  const bool too_big = parsed.ec == std::errc::result_out_of_range &&
                       parsed.ptr == end && text.front() != '-';
  if (too_big || (parsed.ec == std::errc() && slots > kMaxSlots)) {
    return Refuse("slots must be " + std::to_string(kMaxSlots) +
                  " or less, got " + Quoted(text));
  }
  if (parsed.ec != std::errc() || parsed.ptr != end || slots < 1) {
    return Refuse("slots must be 1 or more, got " + Quoted(text));
  }
  return slots;
}

// Port 0 is nobody's.
Result<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port == 0) {
    return Refuse("port must be from 1 to 65535, got " + Quoted(text));
  }
  return port;
}

// What begins with "-" would be an option to ssh.
Status CheckName(std::string_view what, std::string_view name) {
  if (name.front() != '-') return Done{};
  return Refuse("a " + std::string(what) + " does not begin with \"-\"");
}

struct HostAndCount {
  std::string_view host;
  std::optional<std::string_view> count;
};

Result<HostAndCount> SplitBracketed(std::string_view item) {
  const std::size_t close = item.find(']');
  if (close == std::string_view::npos) {
    return Refuse("the bracket of the address is not closed");
  }
  const std::string_view host = item.substr(1, close - 1);
  const std::string_view rest = item.substr(close + 1);
  if (host.find(':') == std::string_view::npos ||
      host.find('[') != std::string_view::npos) {
    return Refuse("brackets are for an IPv6 address");
  }
  if (rest.empty()) return HostAndCount{host, std::nullopt};
  if (rest.front() != ':') {
    return Refuse("after the bracket comes \":slots\" or nothing");
  }
  return HostAndCount{host, rest.substr(1)};
}

Result<HostAndCount> SplitHost(std::string_view item) {
  if (item.front() == '[') return SplitBracketed(item);
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) return HostAndCount{item, std::nullopt};
  if (item.find(':', colon + 1) != std::string_view::npos) {
    return Refuse("an IPv6 address must be in brackets")
        .WithHint("brackets tell the address from the slots: [" +
                  std::string(item) + "]:1");
  }
  if (colon == 0) return Refuse("the host has no name");
  return HostAndCount{item.substr(0, colon), item.substr(colon + 1)};
}

// Takes "user@" off the front of `item`. As in ssh, the last "@" counts.
Result<std::optional<std::string>> TakeUser(std::string_view& item) {
  const std::size_t at = item.rfind('@');
  if (at == std::string_view::npos) return std::optional<std::string>();
  const std::string_view user = item.substr(0, at);
  item.remove_prefix(at + 1);
  if (user.empty()) return Refuse("the user has no name");
  if (user.find(':') != std::string_view::npos) {
    return Refuse("the user comes first, then the host: user@host:slots");
  }
  Status name = CheckName("user", user);
  if (!name.ok()) return std::move(name).error();
  if (item.empty()) return Refuse("the host has no name");
  return std::optional<std::string>(user);
}

// One host, with or without its user and slots; no blanks around it.
Result<HostSlots> ParseHost(std::string_view item, int default_slots) {
  if (item.find_first_of(kBlanks) != std::string_view::npos) {
    return Refuse("a host has no blanks in it");
  }
  Result<std::optional<std::string>> user = TakeUser(item);
  if (!user.ok()) return std::move(user).error();
  Result<HostAndCount> split = SplitHost(item);
  if (!split.ok()) return std::move(split).error();
  Status name = CheckName("host", split.value().host);
  if (!name.ok()) return std::move(name).error();
  HostSlots host{std::string(split.value().host),
                 default_slots,
                 {.user = std::move(user).value()}};
  if (split.value().count) {
    Result<int> slots = ParseSlots(*split.value().count);
    if (!slots.ok()) return std::move(slots).error();
    host.slots = slots.value();
  }
  return host;
}

// The next of the words that follow a host.
std::string_view TakeWord(std::string_view& words) {
  const std::size_t end = std::min(words.find_first_of(kBlanks), words.size());
  const std::string_view word = words.substr(0, end);
  words = Trim(words.substr(end));
  return word;
}

bool NamesSlots(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket) !=
         std::string_view::npos;
}

// "slots=2" or "port=2222".
Status ApplyWord(std::string_view word, bool& slots_known, HostSlots& host) {
  constexpr std::string_view kSlots = "slots=";
  constexpr std::string_view kPort = "port=";
  if (word.substr(0, kSlots.size()) == kSlots) {
    if (std::exchange(slots_known, true)) {
      return Refuse("slots are given twice");
    }
    const Result<int> slots = ParseSlots(word.substr(kSlots.size()));
    if (!slots.ok()) return slots.error();
    host.slots = slots.value();
    return Done{};
  }
  if (word.substr(0, kPort.size()) == kPort) {
    if (host.login.port) return Refuse("the port is given twice");
    const Result<std::uint16_t> port = ParsePort(word.substr(kPort.size()));
    if (!port.ok()) return port.error();
    host.login.port = port.value();
    return Done{};
  }
  return Refuse("after the host come slots=N, port=N or nothing");
}

// "host" or "host:2", then "slots=2" and "port=2222" in any order.
Result<HostSlots> ParseHostfileLine(std::string_view line, int default_slots) {
  if (line.find(',') != std::string_view::npos) {
    return Refuse("one host a line, without commas");
  }
  const std::string_view item = TakeWord(line);
  Result<HostSlots> host = ParseHost(item, default_slots);
  if (!host.ok()) return host;
  bool slots_known = NamesSlots(item);
  while (!line.empty()) {
    Status applied = ApplyWord(TakeWord(line), slots_known, host.value());
    if (!applied.ok()) return std::move(applied).error();
  }
  return host;
}

// One way in to a host, wherever it is named: each part of it may be left out,
// but not be said differently.
Status MergeLogin(const HostSlots& host, Login& known) {
  const Login& login = host.login;
  if (login.user && known.user && login.user != known.user) {
    return Refuse("host " + host.host + " has two users, " + *known.user +
                  " and " + *login.user);
  }
  if (login.port && known.port && login.port != known.port) {
    return Refuse("host " + host.host + " has two ports, " +
                  std::to_string(*known.port) + " and " +
                  std::to_string(*login.port));
  }
  if (login.user) known.user = login.user;
  if (login.port) known.port = login.port;
  return Done{};
}

// A host named again adds to its first mention.
Status Add(HostList& hosts, HostSlots host) {
  const auto known =
      std::find_if(hosts.begin(), hosts.end(),
                   [&](const HostSlots& h) { return h.host == host.host; });
  if (TotalSlots(hosts) + host.slots > kMaxSlots) {
    return Refuse("more than " + std::to_string(kMaxSlots) + " slots in all");
  }
  if (known == hosts.end()) {
    hosts.push_back(std::move(host));
    return Done{};
  }
  known->slots += host.slots;
  return MergeLogin(host, known->login);
}

std::string Bracketed(const std::string& host) {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? '[' + host + ']' : host;
}

std::string UserPrefix(const HostSlots& host) {
  return host.login.user ? *host.login.user + '@' : "";
}

Error WithText(const Error& error, std::string_view text) {
  return Error{error.code(), error.message() + ": " + Quoted(text)}.WithHint(
      error.hint());
}

}  // namespace

Result<HostList> ParseHostList(std::string_view text, int default_slots) {
  HostList hosts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = Trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.empty()) continue;
    Result<HostSlots> host = ParseHost(item, default_slots);
    if (!host.ok()) return WithText(host.error(), item);
    const Status added = Add(hosts, std::move(host).value());
    if (!added.ok()) return WithText(added.error(), item);
  }
  return hosts;
}

Result<HostList> ParseHostfile(std::string_view text, std::string_view name,
                               int default_slots) {
  HostList hosts;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    const std::string_view line =
        Trim(whole.substr(0, std::min(whole.find('#'), whole.size())));
    if (line.empty()) continue;
    const std::string where = std::string(name) + ':' + std::to_string(number);
    Result<HostSlots> host = ParseHostfileLine(line, default_slots);
    if (!host.ok()) return WithText(host.error(), Trim(whole)).Wrap(where);
    const Status added = Add(hosts, std::move(host).value());
    if (!added.ok()) return WithText(added.error(), Trim(whole)).Wrap(where);
  }
  return hosts;
}

int TotalSlots(const HostList& hosts) {
  int total = 0;
  for (const HostSlots& host : hosts) total += host.slots;
  return total;
}

std::string ToString(const HostSlots& host) {
  return Bracketed(host.host) + ':' + std::to_string(host.slots);
}

std::string AsListItem(const HostSlots& host) {
  return UserPrefix(host) + ToString(host);
}

std::string AsHostfileLine(const HostSlots& host) {
  std::string line = AsListItem(host);
  if (host.login.port) line += " port=" + std::to_string(*host.login.port);
  return line;
}

}  // namespace hvd
