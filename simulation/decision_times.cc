#include "simulation/decision_times.h"

#include <algorithm>
#include <cstdio>

#include "driver/explain.h"

namespace hvd {
namespace {

using Times = std::vector<std::chrono::nanoseconds>;

std::string Milliseconds(std::chrono::nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms",
                static_cast<double>(time.count()) / 1e6);
  return text.data();
}

// The time that `percent` of them do not exceed.
std::chrono::nanoseconds Quantile(const Times& sorted, std::size_t percent) {
  return sorted[(sorted.size() - 1) * percent / 100];
}

std::string Line(const std::string& kind, Times times) {
  std::sort(times.begin(), times.end());
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%-16s %9zu %12s %12s %12s",
                kind.c_str(), times.size(),
                Milliseconds(Quantile(times, 50)).c_str(),
                Milliseconds(Quantile(times, 99)).c_str(),
                Milliseconds(times.back()).c_str());
  return text.data();
}

}  // namespace

void DecisionTimes::Add(const Decision& decision) {
  const std::size_t kind = decision.event.index();
  by_kind_[kind].push_back(decision.took);
  if (words_[kind].empty()) words_[kind] = EventWord(decision.event);
  if (decision.took <= slowest_) return;
  slowest_ = decision.took;
  slowest_at_ = decision.at;
  slowest_word_ = words_[kind];
}

std::string DecisionTimes::Table() const {
  std::string table =
      "decided on           count       median          99%      longest\n";
  Times all;
  for (std::size_t kind = 0; kind < by_kind_.size(); ++kind) {
    const Times& times = by_kind_[kind];
    if (times.empty()) continue;
    table += Line(words_[kind], times) + '\n';
    all.insert(all.end(), times.begin(), times.end());
  }
  if (all.empty()) return "nothing was decided";
  return table + Line("all", all) + "\nlongest: " + slowest_word_ + " at " +
         TimeText(slowest_at_);
}

}  // namespace hvd
