#include "discovery/hosts.h"

#include <algorithm>
#include <charconv>
#include <optional>

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

// One host, with or without its slots; no blanks around it.
Result<HostSlots> ParseHost(std::string_view item, int default_slots) {
  if (item.find_first_of(kBlanks) != std::string_view::npos) {
    return Refuse("a host has no blanks in it");
  }
  Result<HostAndCount> split = SplitHost(item);
  if (!split.ok()) return std::move(split).error();
  HostSlots host{std::string(split.value().host), default_slots};
  if (split.value().count) {
    Result<int> slots = ParseSlots(*split.value().count);
    if (!slots.ok()) return std::move(slots).error();
    host.slots = slots.value();
  }
  return host;
}

// "host", "host:2" or "host slots=2".
Result<HostSlots> ParseHostfileLine(std::string_view line, int default_slots) {
  if (line.find(',') != std::string_view::npos) {
    return Refuse("one host a line, without commas");
  }
  const std::size_t blank = std::min(line.find_first_of(kBlanks), line.size());
  const std::string_view extra = Trim(line.substr(blank));
  Result<HostSlots> host = ParseHost(line.substr(0, blank), default_slots);
  if (!host.ok() || extra.empty()) return host;
  constexpr std::string_view kSlots = "slots=";
  if (extra.substr(0, kSlots.size()) != kSlots) {
    return Refuse("after the host comes slots=N or nothing");
  }
  if (line.substr(0, blank).find("]:") != std::string_view::npos ||
      (line.front() != '[' &&
       line.substr(0, blank).find(':') != std::string_view::npos)) {
    return Refuse("slots are given twice");
  }
  Result<int> slots = ParseSlots(extra.substr(kSlots.size()));
  if (!slots.ok()) return std::move(slots).error();
  return HostSlots{host.value().host, slots.value()};
}

// A host named again adds to its first mention.
Status Add(HostList& hosts, HostSlots host) {
  const auto known =
      std::find_if(hosts.begin(), hosts.end(),
                   [&](const HostSlots& h) { return h.host == host.host; });
  if (TotalSlots(hosts) + host.slots > kMaxSlots) {
    return Refuse("more than " + std::to_string(kMaxSlots) + " slots in all");
  }
  if (known != hosts.end()) {
    known->slots += host.slots;
  } else {
    hosts.push_back(std::move(host));
  }
  return Done{};
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
  const bool v6 = host.host.find(':') != std::string::npos;
  const std::string name = v6 ? '[' + host.host + ']' : host.host;
  return name + ':' + std::to_string(host.slots);
}

}  // namespace hvd
