// probe_host: what an agent does for the proof of interfaces, by hand.
//
//   probe_host serve IDENTITY         says its interfaces and port, answers
//                                     probes until it is killed
//   probe_host dial {ADDRESS PORT IDENTITY}...
//                                     a line a probe: its number, kind, failure
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "base/read_file.h"
#include "discovery/interfaces.h"
#include "discovery/probe_dialer.h"
#include "discovery/probe_listener.h"

namespace {

constexpr const char* kKey = "the key of a bed's probes";
constexpr hvd::Duration kLongestTest{120'000};

int Fail(const hvd::Error& error) {
  std::cerr << "probe_host: " << error.message() << '\n';
  return 1;
}

void Print(const hvd::Interface& interface) {
  std::cout << "interface " << interface.name << ' ' << interface.index << ' '
            << interface.up << interface.running << interface.loopback
            << interface.point_to_point << interface.bridge;
  for (const hvd::InterfaceAddress& address : interface.addresses) {
    std::cout << ' ' << address.address << '/' << address.prefix_length;
  }
  std::cout << '\n';
}

int Serve(const std::string& identity) {
  hvd::EventLoop loop;
  const auto listener = hvd::ProbeListener::Listen(
      loop, {.key = kKey, .identity = identity, .ports = {}});
  if (!listener.ok()) return Fail(listener.error());
  const auto interfaces = hvd::ListInterfaces();
  if (!interfaces.ok()) return Fail(interfaces.error());
  for (const hvd::Interface& interface : interfaces.value()) Print(interface);
  const auto routes = hvd::ReadWholeFile("/proc/net/route");
  if (routes.ok()) {
    std::cout << "route " << hvd::DefaultRouteInterface(routes.value()) << '\n';
  }
  std::cout << "port " << listener.value()->port() << std::endl;
  loop.RunUntil([] { return false; }, kLongestTest);
  return 0;
}

int Dial(const std::vector<hvd::ProbeTarget>& targets) {
  hvd::EventLoop loop;
  const auto dialer = hvd::ProbeDialer::Make(loop, kKey);
  std::size_t left = targets.size();
  dialer->Dial(targets, [&](std::size_t index, const hvd::ProbeResult& result) {
    std::cout << index << ' ' << static_cast<int>(result.kind) << ' '
              << (result.answered_as.empty() ? "-" : result.answered_as) << ' '
              << result.failure << '\n';
    if (--left == 0) loop.Stop();
  });
  if (left > 0) loop.Run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "serve") return Serve(words[1]);
  std::vector<hvd::ProbeTarget> targets;
  for (std::size_t i = 1; i + 3 <= words.size(); i += 3) {
    targets.push_back({words[i],
                       static_cast<std::uint16_t>(std::stoi(words[i + 1])),
                       words[i + 2]});
  }
  return Dial(targets);
}
