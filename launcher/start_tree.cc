#include "launcher/start_tree.h"

#include <algorithm>

namespace hvd {

void StartTree::Add(const std::string& host) {
  if (Find(host) == nullptr) starters_.push_back({host});
}

void StartTree::Remove(const std::string& host) {
  std::erase_if(starters_,
                [&](const Starter& starter) { return starter.host == host; });
}

std::optional<std::string> StartTree::Choose() const {
  if (HasRoom(starters_.front())) return kHvdrun;
  const Starter* best = nullptr;
  for (const Starter& starter : starters_) {
    if (!HasRoom(starter)) continue;
    if (best == nullptr || starter.started < best->started) best = &starter;
  }
  if (best != nullptr) return best->host;
  if (AnyOnItsWay()) return std::nullopt;
  return kHvdrun;
}

std::optional<std::string> StartTree::ChooseHvdrun() const {
  if (starters_.front().on_its_way >= limits_.at_once) return std::nullopt;
  return kHvdrun;
}

void StartTree::Begin(const std::string& starter) {
  if (Starter* const found = Find(starter)) {
    ++found->started;
    ++found->on_its_way;
  }
}

void StartTree::Arrive(const std::string& starter) {
  if (Starter* const found = Find(starter)) --found->on_its_way;
}

void StartTree::End(const std::string& starter, bool arrived) {
  if (!arrived) Arrive(starter);
  if (Starter* const found = Find(starter)) --found->started;
}

StartTree::Starter* StartTree::Find(const std::string& host) {
  const auto found =
      std::find_if(starters_.begin(), starters_.end(),
                   [&](const Starter& s) { return s.host == host; });
  return found == starters_.end() ? nullptr : &*found;
}

void StartTree::SetAble(const std::string& host, bool able) {
  if (Starter* const found = Find(host)) found->able = able;
}

bool StartTree::HasRoom(const Starter& starter) const {
  if (!starter.able || starter.on_its_way >= limits_.at_once) return false;
  if (starter.started < limits_.fan_out) return true;
  if (&starter != &starters_.front()) return false;
  const auto unable = std::count_if(starters_.begin(), starters_.end(),
                                    [](const Starter& s) { return !s.able; });
  return starter.started < limits_.fan_out * (1 + unable);
}

bool StartTree::AnyOnItsWay() const {
  return std::any_of(starters_.begin(), starters_.end(),
                     [](const Starter& s) { return s.on_its_way > 0; });
}

}  // namespace hvd
