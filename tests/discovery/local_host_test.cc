#include "discovery/local_host.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <optional>
#include <sstream>

using namespace std::chrono_literals;

namespace hvd {
namespace {

using Answer = std::optional<Result<std::vector<HostAddress>>>;

Answer LookUp(EventLoop& loop, const std::vector<std::string>& hosts,
              Duration limit) {
  Answer answer;
  const auto lookup =
      LookUpHosts(loop, hosts, limit, [&](Result<std::vector<HostAddress>> r) {
        answer.emplace(std::move(r));
      });
  CHECK_FALSE(answer);  // never from inside
  REQUIRE(loop.RunUntil([&] { return answer.has_value(); }, limit + 5s));
  return answer;
}

bool HasText(const std::string& path, const std::string& text) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str().find(text) != std::string::npos;
}

// A name besides localhost, with an IPv4 address; no network is asked for it.
std::string NameInEtcHosts() {
  std::ifstream file("/etc/hosts");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string address;
    words >> address;
    if (address.find(':') != std::string::npos) continue;
    for (std::string name; words >> name;) {
      if (name != "localhost") return name;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("an address of this machine's loopback is local",
          "[discovery][net]") {
  CHECK(AddressWithoutLookup("127.0.0.1") ==
        HostAddress{"127.0.0.1", "127.0.0.1", true});
  CHECK(AddressWithoutLookup("127.0.0.2") ==
        HostAddress{"127.0.0.2", "127.0.0.2", true});
  CHECK(AddressWithoutLookup("localhost") ==
        HostAddress{"localhost", "127.0.0.1", true});
}

TEST_CASE("an address that cannot be bound here is not local",
          "[discovery][net]") {
  // TEST-NET-1 (RFC 5737) belongs to nobody.
  CHECK(AddressWithoutLookup("192.0.2.1") ==
        HostAddress{"192.0.2.1", "192.0.2.1", false});
  const auto v6 = AddressWithoutLookup("2001:db8::1");
  REQUIRE(v6);
  CHECK_FALSE(v6->is_local);
}

TEST_CASE("the IPv6 loopback is local where the machine has one",
          "[discovery][net]") {
  const auto v6 = AddressWithoutLookup("::1");
  REQUIRE(v6);
  CHECK(v6->address == "::1");
  CHECK(v6->is_local ==
        HasText("/proc/net/if_inet6", "00000000000000000000000000000001"));
}

TEST_CASE("a name needs a lookup", "[discovery][net]") {
  CHECK_FALSE(AddressWithoutLookup("gpu_node-01.rack_2"));
  CHECK_FALSE(AddressWithoutLookup(""));
}

TEST_CASE("LookUpHosts answers in the order asked, literals and names alike",
          "[discovery][net]") {
  EventLoop loop;
  const auto answer =
      LookUp(loop, {"127.0.0.3", "localhost", "127.0.0.2", "localhost"}, 10s);
  REQUIRE(answer->ok());
  CHECK(answer->value() ==
        std::vector<HostAddress>{{"127.0.0.3", "127.0.0.3", true},
                                 {"localhost", "127.0.0.1", true},
                                 {"127.0.0.2", "127.0.0.2", true},
                                 {"localhost", "127.0.0.1", true}});
}

TEST_CASE("LookUpHosts finds the names that the machine itself knows",
          "[discovery][net]") {
  const std::string name = NameInEtcHosts();
  if (name.empty()) {
    WARN("/etc/hosts has nothing but localhost: nothing to look up");
    return;
  }
  EventLoop loop;
  const auto answer = LookUp(loop, {name}, 10s);
  REQUIRE(answer->ok());
  CHECK(answer->value()[0].host == name);
  CHECK(HasText("/etc/hosts", answer->value()[0].address));
}

TEST_CASE("LookUpHosts names the host that nobody knows", "[discovery][net]") {
  // Horovod #590: a typing error was noticed only much later. The reserved
  // domain (RFC 6761) is unknown to every resolver, reachable or not.
  EventLoop loop;
  const auto answer = LookUp(loop, {"127.0.0.1", "localhost2.invalid"}, 20s);
  REQUIRE_FALSE(answer->ok());
  CHECK(answer->error().message().find("localhost2.invalid") !=
        std::string::npos);
}

TEST_CASE("LookUpHosts gives up in time and names who is missing",
          "[discovery][net]") {
  EventLoop loop;
  const auto answer = LookUp(loop, {"late.invalid", "127.0.0.1"}, 0ms);
  REQUIRE_FALSE(answer->ok());
  CHECK(answer->error().message().find("late.invalid") != std::string::npos);
  CHECK(answer->error().message().find("127.0.0.1") == std::string::npos);
}

TEST_CASE("LookUpHosts is silent once destroyed", "[discovery][net]") {
  EventLoop loop;
  int calls = 0;
  {
    const auto lookup =
        LookUpHosts(loop, {"gone.invalid", "127.0.0.1"}, 0ms,
                    [&](const Result<std::vector<HostAddress>>&) { ++calls; });
  }
  CHECK_FALSE(loop.RunUntil([&] { return calls > 0; }, 50ms));
}

TEST_CASE("LookUpHosts may be destroyed by its own handler",
          "[discovery][net]") {
  EventLoop loop;
  std::unique_ptr<HostLookup> lookup;
  bool done = false;
  lookup = LookUpHosts(loop, {"127.0.0.1"}, 5s,
                       [&](const Result<std::vector<HostAddress>>& result) {
                         CHECK(result.ok());
                         lookup.reset();
                         done = true;
                       });
  CHECK(loop.RunUntil([&] { return done; }, 5s));
}

}  // namespace hvd
