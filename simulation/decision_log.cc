#include "simulation/decision_log.h"

#include <utility>
#include <variant>

#include "driver/explain.h"

namespace hvd {
namespace {

// So many of a kind are still shown one by one.
constexpr std::size_t kFew = 8;

std::string Count(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string Short(const Event& event) {
  const auto* hosts = std::get_if<HostsDiscovered>(&event);
  if (hosts == nullptr || hosts->hosts.size() <= kFew) return ToText(event);
  return "hosts " + Count(hosts->hosts.size(), "host") + ", " +
         Count(static_cast<std::size_t>(TotalSlots(hosts->hosts)), "slot");
}

std::string Short(const Action& action) {
  if (const auto* publish = std::get_if<PublishWorld>(&action)) {
    const World& world = publish->world;
    if (world.workers.size() > kFew) {
      return "publish epoch=" +
             std::to_string(static_cast<std::uint64_t>(world.epoch)) + ' ' +
             Count(world.workers.size(), "worker");
    }
  }
  if (const auto* end = std::get_if<EndJob>(&action)) {
    const Outcome& outcome = end->outcome;
    if (outcome.workers.size() > kFew) {
      return "end " + ToText(outcome.verdict) + ' ' +
             Count(outcome.workers.size(), "worker") +
             (outcome.reason.empty() ? "" : ": " + outcome.reason);
    }
  }
  return ToText(action);
}

// "start 4096 workers: launch=1 h0/0 rank=0 ... launch=4096 h511/7 rank=4095"
std::string Short(const std::vector<Action>& actions) {
  std::string text;
  for (std::size_t first = 0; first < actions.size();) {
    std::size_t end = first + 1;
    while (end < actions.size() &&
           actions[end].index() == actions[first].index()) {
      ++end;
    }
    if (end - first > kFew) {
      text += "\n  " + ToText(actions[first]) + "\n  ... " +
              std::to_string(end - first - 2) + " more" + "\n  " +
              ToText(actions[end - 1]);
      first = end;
    }
    for (; first < end; ++first) text += "\n  " + Short(actions[first]);
  }
  return text;
}

}  // namespace

DecisionLog::DecisionLog(Detail detail, Print print)
    : detail_(detail), print_(std::move(print)) {}

void DecisionLog::Add(const Decision& decision) {
  if (detail_ == Detail::kFull) {
    const std::string text =
        Explain(decision.at, decision.event, decision.actions);
    if (!text.empty()) print_(text);
    return;
  }
  if (decision.actions.empty() &&
      !std::holds_alternative<HostsDiscovered>(decision.event)) {
    return AddQuiet(decision);
  }
  Finish();
  print_(TimeText(decision.at) + ' ' + Short(decision.event) +
         Short(decision.actions));
}

void DecisionLog::AddFault(Duration at, const std::string& text) {
  Finish();
  print_(TimeText(at) + " fault: " + text);
}

void DecisionLog::AddQuiet(const Decision& decision) {
  if (std::holds_alternative<Tick>(decision.event)) return;
  if (quiet_.empty()) quiet_since_ = decision.at;
  quiet_until_ = decision.at;
  ++quiet_[std::string(EventWord(decision.event))];
}

void DecisionLog::Finish() {
  if (quiet_.empty()) return;
  std::string text = TimeText(quiet_since_);
  if (quiet_until_ > quiet_since_) {
    text += " to " + TimeText(quiet_until_).substr(2);
  }
  const char* separator = " ";
  for (const auto& [word, count] : std::exchange(quiet_, {})) {
    text += separator + std::to_string(count) + ' ' + word;
    separator = ", ";
  }
  print_(text);
}

}  // namespace hvd
