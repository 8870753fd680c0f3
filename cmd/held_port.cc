#include "cmd/held_port.h"

#include <utility>

namespace hvd {

Result<HeldPort> HeldPort::Bind(const std::string& address,
                                const PortRange& ports) {
  Result<UniqueFd> fd = HoldInRange(address, ports, "MASTER_PORT");
  if (!fd.ok()) return std::move(fd).error();
  const std::uint16_t port = BoundPort(fd.value().get());
  return HeldPort(std::move(fd).value(), port);
}

}  // namespace hvd
