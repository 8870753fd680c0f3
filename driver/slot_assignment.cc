#include "driver/slot_assignment.h"

namespace hvd {

std::optional<std::vector<WorkerId>> AssignSlots(const HostList& hosts,
                                                 int workers) {
  if (TotalSlots(hosts) < workers) return std::nullopt;
  std::vector<WorkerId> places;
  places.reserve(static_cast<std::size_t>(workers));
  for (const HostSlots& host : hosts) {
    for (int slot = 0; slot < host.slots; ++slot) {
      if (static_cast<int>(places.size()) == workers) return places;
      places.push_back({host.host, slot});
    }
  }
  return places;
}

}  // namespace hvd
