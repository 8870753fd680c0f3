#include "launcher/about_codec.h"

namespace hvd {
namespace {

void Fill(const Interface& from, agent::Interface& to) {
  to.set_name(from.name);
  to.set_index(static_cast<std::uint32_t>(from.index));
  to.set_up(from.up);
  to.set_running(from.running);
  to.set_loopback(from.loopback);
  to.set_point_to_point(from.point_to_point);
  to.set_bridge(from.bridge);
  for (const InterfaceAddress& address : from.addresses) {
    agent::InterfaceAddress& added = *to.add_addresses();
    added.set_address(address.address);
    added.set_prefix_length(static_cast<std::uint32_t>(address.prefix_length));
  }
}

Interface Read(const agent::Interface& from, WireReader& read) {
  Interface interface {
    .name = read.Text(from.name()), .index = read.Small(from.index()),
    .up = from.up(), .running = from.running(), .loopback = from.loopback(),
    .point_to_point = from.point_to_point(), .bridge = from.bridge(),
    .addresses = {}
  };
  for (const agent::InterfaceAddress& address : from.addresses()) {
    interface.addresses.push_back(
        {read.Text(address.address()), read.Small(address.prefix_length())});
  }
  return interface;
}

}  // namespace

void Fill(const AgentAbout& from, agent::About& to) {
  to.set_version(from.version);
  to.set_host_name(from.host_name);
  to.set_pid(from.pid);
  to.set_unix_ms(from.unix_ms);
  to.set_hvdrun_address(from.hvdrun_address);
  to.set_master_port(from.master_port);
  to.set_identity(from.identity);
  to.set_probe_port(from.probe_port);
  for (const Interface& interface : from.interfaces) {
    Fill(interface, *to.add_interfaces());
  }
  to.set_default_route(from.default_route);
  to.set_system(from.system);
  to.set_store_port(from.store_port);
}

AgentAbout ReadAbout(const agent::About& from, WireReader& read) {
  AgentAbout about{.version = read.Text(from.version()),
                   .host_name = read.Text(from.host_name()),
                   .pid = read.Pid(from.pid()),
                   .unix_ms = from.unix_ms(),
                   .hvdrun_address = read.Text(from.hvdrun_address()),
                   .master_port = read.Port(from.master_port()),
                   .identity = read.Text(from.identity()),
                   .probe_port = read.Port(from.probe_port()),
                   .interfaces = {},
                   .default_route = read.Text(from.default_route()),
                   .system = read.Text(from.system()),
                   .store_port = read.Port(from.store_port())};
  for (const agent::Interface& interface : from.interfaces()) {
    about.interfaces.push_back(Read(interface, read));
  }
  return about;
}

}  // namespace hvd
