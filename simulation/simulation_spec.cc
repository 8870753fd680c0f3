#include "simulation/simulation_spec.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <utility>

#include "base/seconds.h"
#include "discovery/hosts.h"

namespace hvd {
namespace {

struct FaultWord {
  std::string_view word;
  FaultKind kind;
  bool of_slot;  // else of a host
};
constexpr FaultWord kFaults[] = {
    {"kill", FaultKind::kKill, true},    {"hang", FaultKind::kHang, true},
    {"bad", FaultKind::kBad, true},      {"slow", FaultKind::kSlow, true},
    {"leave", FaultKind::kLeave, false}, {"lose", FaultKind::kLose, false},
    {"come", FaultKind::kCome, false},
};
constexpr int kMostOfAKind = 10'000;

// "hosts=512", "kill@90", "kill@90=h3/2"
struct Item {
  std::string_view text;
  std::string_view key;
  std::optional<std::string_view> at;
  std::string_view value;
};

Item Split(std::string_view text) {
  Item item{text, text, std::nullopt, ""};
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) item.value = text.substr(equals + 1);
  item.key = text.substr(0, equals);
  const std::size_t at = item.key.find('@');
  if (at == std::string_view::npos) return item;
  item.at = item.key.substr(at + 1);
  item.key = item.key.substr(0, at);
  return item;
}

std::vector<Item> SplitAll(std::string_view text) {
  std::vector<Item> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) items.push_back(Split(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

const FaultWord* FindFault(const Item& item) {
  for (const FaultWord& fault : kFaults) {
    if (fault.word == item.key) return &fault;
  }
  return nullptr;
}

Error Refuse(const Item& item, const std::string& why) {
  return {ErrorCode::kInvalidArgument, std::string(item.text) + ": " + why};
}

std::optional<std::uint32_t> ParseNumber(std::string_view text) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return number;
}

Status SetCount(const Item& item, int most, int& target) {
  const auto count = ParseNumber(item.value);
  if (!count || *count < 1 || *count > static_cast<std::uint32_t>(most)) {
    return Refuse(item,
                  "must be a whole number from 1 to " + std::to_string(most));
  }
  target = static_cast<int>(*count);
  return Done{};
}

Status SetSeed(const Item& item, std::uint32_t& target) {
  const auto seed = ParseNumber(item.value);
  if (!seed) return Refuse(item, "must be a whole number");
  target = *seed;
  return Done{};
}

Status SetSeconds(const Item& item, Duration& target) {
  const Result<Duration> seconds = ParseSeconds(item.value);
  if (!seconds.ok()) return Refuse(item, seconds.error().message());
  if (seconds.value() == Duration{0}) {
    return Refuse(item, "must be more than 0 seconds");
  }
  target = seconds.value();
  return Done{};
}

Status SetSize(const Item& item, SimulationSpec& spec) {
  if (!item.at) {
    if (item.key == "hosts") return SetCount(item, kMaxSlots, spec.hosts);
    if (item.key == "slots") return SetCount(item, kMaxSlots, spec.slots);
    if (item.key == "seed") return SetSeed(item, spec.seed);
    if (item.key == "length") return SetSeconds(item, spec.length);
    if (item.key == "start") return SetSeconds(item, spec.start);
    if (item.key == "commit") return SetSeconds(item, spec.commit);
  }
  return Refuse(item, "there is no such item")
      .WithHint(
          "hosts=, slots=, seed=, length=, start=, commit=; kill, hang, bad, "
          "slow, leave, lose, come: each with =COUNT, @SECOND or "
          "@SECOND=WHERE");
}

// "h3" or "h3/2"; a host that comes may be a new one.
Status CheckPlace(const Item& item, const FaultWord& fault,
                  const SimulationSpec& spec) {
  const bool may_be_new = fault.kind == FaultKind::kCome;
  const int hosts = may_be_new ? kMaxSlots : spec.hosts;
  const std::size_t slash = std::min(item.value.find('/'), item.value.size());
  const std::string_view host = item.value.substr(0, slash);
  const auto number =
      ParseNumber(host.substr(std::min<std::size_t>(1, host.size())));
  bool fits = host.starts_with('h') && number &&
              *number < static_cast<std::uint32_t>(hosts) &&
              (slash < item.value.size()) == fault.of_slot;
  if (fits && fault.of_slot) {
    const auto slot = ParseNumber(item.value.substr(slash + 1));
    fits = slot && *slot < static_cast<std::uint32_t>(spec.slots);
  }
  if (fits) return Done{};
  const std::string last = 'h' + std::to_string(hosts - 1);
  return Refuse(item, fault.of_slot ? "WHERE must be a slot, h0/0 to " + last +
                                          '/' + std::to_string(spec.slots - 1)
                                    : "WHERE must be a host, h0 to " + last);
}

Status AddFaults(const Item& item, const FaultWord& fault, std::mt19937& random,
                 SimulationSpec& spec) {
  if (!item.at) {
    int count = 0;
    Status set = SetCount(item, kMostOfAKind, count);
    const auto length = static_cast<std::uint64_t>(spec.length.count());
    for (int i = 0; i < count; ++i) {
      const Duration at{static_cast<Duration::rep>(random() % length)};
      spec.faults.push_back({fault.kind, at, ""});
    }
    return set;
  }
  const Result<Duration> at = ParseSeconds(*item.at);
  if (!at.ok()) return Refuse(item, "SECOND " + at.error().message());
  if (at.value() >= spec.length) {
    return Refuse(item, "SECOND must be less than length=, which is " +
                            SecondsText(spec.length));
  }
  spec.faults.push_back({fault.kind, at.value(), std::string(item.value)});
  return item.text.find('=') == std::string_view::npos
             ? Status(Done{})
             : CheckPlace(item, fault, spec);
}

}  // namespace

std::string_view ToText(FaultKind kind) {
  for (const FaultWord& fault : kFaults) {
    if (fault.kind == kind) return fault.word;
  }
  return "";
}

Result<SimulationSpec> ParseSimulationSpec(std::string_view text) {
  SimulationSpec spec;
  const std::vector<Item> items = SplitAll(text);
  for (const Item& item : items) {
    if (FindFault(item) != nullptr) continue;
    Status set = SetSize(item, spec);
    if (!set.ok()) return std::move(set).error();
  }
  if (spec.hosts > kMaxSlots / spec.slots) {
    return Error{ErrorCode::kInvalidArgument,
                 "hosts= times slots= must be at most " +
                     std::to_string(kMaxSlots) + ", got " +
                     std::to_string(spec.hosts) + " times " +
                     std::to_string(spec.slots)};
  }
  std::mt19937 random(spec.seed);
  for (const Item& item : items) {
    const FaultWord* fault = FindFault(item);
    if (fault == nullptr) continue;
    Status added = AddFaults(item, *fault, random, spec);
    if (!added.ok()) return std::move(added).error();
  }
  std::stable_sort(spec.faults.begin(), spec.faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return spec;
}

}  // namespace hvd
