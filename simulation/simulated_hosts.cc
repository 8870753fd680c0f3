#include "simulation/simulated_hosts.h"

#include <algorithm>

namespace hvd {
namespace {

std::string HostName(int number) { return 'h' + std::to_string(number); }

}  // namespace

SimulatedHosts::SimulatedHosts(const SimulationSpec& spec)
    : slots_(spec.slots), names_(spec.hosts) {
  for (int host = 0; host < spec.hosts; ++host) {
    listed_.push_back({HostName(host), spec.slots});
  }
}

bool SimulatedHosts::IsListed(const std::string& host) const {
  return std::any_of(listed_.begin(), listed_.end(),
                     [&](const HostSlots& h) { return h.host == host; });
}

void SimulatedHosts::Leave(const std::string& host) {
  std::erase_if(listed_, [&](const HostSlots& h) { return h.host == host; });
  away_.push_back(host);
}

void SimulatedHosts::Lose(const std::string& host) {
  Leave(host);
  dead_.insert(host);
}

void SimulatedHosts::Come(const std::string& host) {
  std::erase(away_, host);
  dead_.erase(host);
  listed_.push_back({host, slots_});
  names_ = std::max(names_, std::stoi(host.substr(1)) + 1);
}

std::string SimulatedHosts::NextToCome() const {
  return away_.empty() ? HostName(names_) : away_.front();
}

WorkerId SlotOf(const std::string& where) {
  const std::size_t slash = where.find('/');
  return {where.substr(0, slash), std::stoi(where.substr(slash + 1))};
}

}  // namespace hvd
