#include "discovery/hosts.h"

#include <catch2/catch.hpp>

namespace hvd {
namespace {

std::string ErrorOf(const Result<HostList>& result) {
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code() == ErrorCode::kInvalidArgument);
  return result.error().message();
}

}  // namespace

TEST_CASE("ParseHostList keeps the order and reads counts",
          "[discovery][unit]") {
  const auto hosts = ParseHostList("b:2,a:4,c", 1);
  REQUIRE(hosts.ok());
  CHECK(hosts.value() == HostList{{"b", 2}, {"a", 4}, {"c", 1}});
  CHECK(TotalSlots(hosts.value()) == 7);
}

TEST_CASE("ParseHostList skips empty items", "[discovery][unit]") {
  // volcano#1321: lists made with tr end in a comma.
  CHECK(ParseHostList("localhost,127.0.0.2,", 1).value() ==
        HostList{{"localhost", 1}, {"127.0.0.2", 1}});
  CHECK(ParseHostList(" a:1 ,, b:2 ", 1).value() ==
        HostList{{"a", 1}, {"b", 2}});
  CHECK(ParseHostList(",", 1).value().empty());
  CHECK(ParseHostList("", 1).value().empty());
}

TEST_CASE("hosts named twice add up by one rule wherever they are named",
          "[discovery][unit]") {
  // Open MPI #11136: two repeats worked, three did not.
  const HostList three{{"localhost", 3}};
  CHECK(ParseHostList("localhost,localhost,localhost", 1).value() == three);
  CHECK(
      ParseHostfile("localhost slots=1\nlocalhost slots=1\nlocalhost\n", "f", 1)
          .value() == three);
  CHECK(ParseHostList("a:1,b:1,a:2", 1).value() ==
        HostList{{"a", 3}, {"b", 1}});
}

TEST_CASE("ParseHostList reads IPv6 in brackets", "[discovery][unit]") {
  CHECK(ParseHostList("[fd77::1]:4,[::1]", 2).value() ==
        HostList{{"fd77::1", 4}, {"::1", 2}});
}

TEST_CASE("ParseHostList asks for brackets around a bare IPv6 address",
          "[discovery][unit]") {
  for (const char* text : {"fd77::1", "fd77::1:2", "::1"}) {
    CAPTURE(text);
    const auto hosts = ParseHostList(text, 1);
    CHECK(ErrorOf(hosts).find("must be in brackets") != std::string::npos);
    CHECK(hosts.error().hint().find('[' + std::string(text) + "]:1") !=
          std::string::npos);
  }
}

TEST_CASE("ParseHostList does not judge names", "[discovery][unit]") {
  // Horovod #1325, #1713: dots and underscores were refused.
  CHECK(ParseHostList("gpu_node-01.rack_2:2,10.77.0.1:1,xn--bcher-kva", 1)
            .value() == HostList{{"gpu_node-01.rack_2", 2},
                                 {"10.77.0.1", 1},
                                 {"xn--bcher-kva", 1}});
}

TEST_CASE("ParseHostList names the item it refuses and why",
          "[discovery][unit]") {
  CHECK(ErrorOf(ParseHostList("a:1,localhost:0", 1)) ==
        "slots must be 1 or more, got \"0\": \"localhost:0\"");
  CHECK(ErrorOf(ParseHostList("a:-1", 1)) ==
        "slots must be 1 or more, got \"-1\": \"a:-1\"");
  CHECK(ErrorOf(ParseHostList("a:two", 1)) ==
        "slots must be 1 or more, got \"two\": \"a:two\"");
  CHECK(ErrorOf(ParseHostList("a:", 1)) ==
        "slots must be 1 or more, got \"\": \"a:\"");
  CHECK(ErrorOf(ParseHostList("a:65536", 1)) ==
        "slots must be 65535 or less, got \"65536\": \"a:65536\"");
  CHECK(ErrorOf(ParseHostList("a:99999999999", 1)) ==
        "slots must be 65535 or less, got \"99999999999\": "
        "\"a:99999999999\"");
  CHECK(ErrorOf(ParseHostList(":2", 1)) == "the host has no name: \":2\"");
  CHECK(ErrorOf(ParseHostList("[::1", 1)) ==
        "the bracket of the address is not closed: \"[::1\"");
  CHECK(ErrorOf(ParseHostList("[]:1", 1)) ==
        "brackets are for an IPv6 address: \"[]:1\"");
  CHECK(ErrorOf(ParseHostList("[a]:1", 1)) ==
        "brackets are for an IPv6 address: \"[a]:1\"");
  CHECK(ErrorOf(ParseHostList("[[::1]:1", 1)) ==
        "brackets are for an IPv6 address: \"[[::1]:1\"");
  CHECK(ErrorOf(ParseHostList("[::1]2", 1)) ==
        "after the bracket comes \":slots\" or nothing: "
        "\"[::1]2\"");
  CHECK(ErrorOf(ParseHostList("a b:2", 1)) ==
        "a host has no blanks in it: \"a b:2\"");
}

TEST_CASE("slots are bounded in all, not only for one host",
          "[discovery][unit]") {
  CHECK(ParseHostList("a:65535", 1).ok());
  CHECK(ErrorOf(ParseHostList("a:65535,b:1", 1)) ==
        "more than 65535 slots in all: \"b:1\"");
  CHECK_FALSE(ParseHostList("a:65535,a:1", 1).ok());
}

TEST_CASE("a refused item is shown on one line and not at any length",
          "[discovery][unit]") {
  const auto hosts = ParseHostList("a:\x1b[31m\n" + std::string(5000, 'x'), 1);
  const std::string message = ErrorOf(hosts);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find('\x1b') == std::string::npos);
  CHECK(message.size() < 600);
}

TEST_CASE("ParseHostfile takes every syntax in use", "[discovery][unit]") {
  // Horovod #1428 and kubeflow/mpi-operator#523.
  const auto hosts = ParseHostfile(
      "# c\n\n10.77.0.1 slots=1\r\n10.77.0.2:1   # tail comment\n\tlocalhost\n"
      "[::1] slots=3\n[fd77::1]:2",
      "hosts.txt", 4);
  REQUIRE(hosts.ok());
  CHECK(hosts.value() == HostList{{"10.77.0.1", 1},
                                  {"10.77.0.2", 1},
                                  {"localhost", 4},
                                  {"::1", 3},
                                  {"fd77::1", 2}});
}

TEST_CASE("ParseHostfile names file, line and text of what it refuses",
          "[discovery][unit]") {
  // DeepSpeed #3669: the message showed a placeholder instead of the line.
  const auto refused = [](const std::string& line) {
    return ErrorOf(ParseHostfile("a slots=1\n" + line + "\n", "hosts.txt", 1));
  };
  CHECK(refused("b lots=8") ==
        "hosts.txt:2: after the host come slots=N, port=N or nothing: "
        "\"b lots=8\"");
  CHECK(refused("b slots=two") ==
        "hosts.txt:2: slots must be 1 or more, got \"two\": \"b slots=two\"");
  CHECK(refused("b slots=-1") ==
        "hosts.txt:2: slots must be 1 or more, got \"-1\": \"b slots=-1\"");
  CHECK(refused("b slots=0") ==
        "hosts.txt:2: slots must be 1 or more, got \"0\": \"b slots=0\"");
  CHECK(refused("b slots=99999999999") ==
        "hosts.txt:2: slots must be 65535 or less, got \"99999999999\": "
        "\"b slots=99999999999\"");
  CHECK(refused("b:2 slots=2") ==
        "hosts.txt:2: slots are given twice: \"b:2 slots=2\"");
  CHECK(refused("[::1]:2 slots=2") ==
        "hosts.txt:2: slots are given twice: \"[::1]:2 slots=2\"");
  CHECK(refused("a:2,b:2") ==
        "hosts.txt:2: one host a line, without commas: \"a:2,b:2\"");
  CHECK(refused("fd77::1 slots=2") ==
        "hosts.txt:2: an IPv6 address must be in brackets: "
        "\"fd77::1 slots=2\"");
}

TEST_CASE("a user before a host is not a part of the host",
          "[discovery][unit]") {
  // Horovod #2089: user@host was refused.
  const auto hosts = ParseHostList("root@a:2,b,ann@[fd77::1]:3,x@y@c", 1);
  REQUIRE(hosts.ok());
  CHECK(hosts.value() == HostList{{"a", 2, {.user = "root"}},
                                  {"b", 1},
                                  {"fd77::1", 3, {.user = "ann"}},
                                  {"c", 1, {.user = "x@y"}}});
}

TEST_CASE("a hostfile may say how to log in to a host", "[discovery][unit]") {
  const auto hosts = ParseHostfile(
      "root@a slots=2 port=2222\nb port=22 slots=3\nann@c:4 port=65535\n"
      "[::1] port=1",
      "hosts.txt", 5);
  REQUIRE(hosts.ok());
  CHECK(hosts.value() ==
        HostList{{"a", 2, {.user = "root", .port = std::uint16_t{2222}}},
                 {"b", 3, {.port = std::uint16_t{22}}},
                 {"c", 4, {.user = "ann", .port = std::uint16_t{65535}}},
                 {"::1", 5, {.port = std::uint16_t{1}}}});
}

TEST_CASE("a host named twice has one login, said once or twice the same",
          "[discovery][unit]") {
  const HostList twice{{"a", 2, {.user = "root"}}};
  CHECK(ParseHostList("a,root@a", 1).value() == twice);
  CHECK(ParseHostList("root@a,a", 1).value() == twice);
  CHECK(ParseHostList("root@a,root@a", 1).value() == twice);
  CHECK(ErrorOf(ParseHostList("root@a,b,ann@a:2", 1)) ==
        "host a has two users, root and ann: \"ann@a:2\"");
  CHECK(ErrorOf(ParseHostfile("a port=22\na port=23", "f", 1)) ==
        "f:2: host a has two ports, 22 and 23: \"a port=23\"");
}

TEST_CASE("what no user and no port can be is refused", "[discovery][unit]") {
  CHECK(ErrorOf(ParseHostList("@a", 1)) == "the user has no name: \"@a\"");
  CHECK(ErrorOf(ParseHostList("root@", 1)) ==
        "the host has no name: \"root@\"");
  CHECK(ErrorOf(ParseHostList("a:2@b", 1)) ==
        "the user comes first, then the host: user@host:slots: \"a:2@b\"");
  CHECK(ErrorOf(ParseHostList("-oProxyCommand=x@a", 1)) ==
        "a user does not begin with \"-\": \"-oProxyCommand=x@a\"");
  CHECK(ErrorOf(ParseHostList("-oProxyCommand=x", 1)) ==
        "a host does not begin with \"-\": \"-oProxyCommand=x\"");
  for (const std::string port : {"0", "65536", "-1", "", "22x", "ssh"}) {
    CHECK(ErrorOf(ParseHostfile("a port=" + port, "f", 1)) ==
          "f:1: port must be from 1 to 65535, got \"" + port +
              "\": \"a port=" + port + "\"");
  }
  CHECK(ErrorOf(ParseHostfile("a port=1 port=1", "f", 1)) ==
        "f:1: the port is given twice: \"a port=1 port=1\"");
}

TEST_CASE("a host as text reads back as the same host", "[discovery][unit]") {
  const HostList hosts{{"a", 2}, {"fd77::1", 3, {.user = "ann"}}};
  CHECK(ToString(hosts[0]) + ',' + ToString(hosts[1]) == "a:2,[fd77::1]:3");
  CHECK(AsListItem(hosts[0]) + ',' + AsListItem(hosts[1]) ==
        "a:2,ann@[fd77::1]:3");
  CHECK(ParseHostList("a:2,ann@[fd77::1]:3", 1).value() == hosts);
  const HostSlots full{"b", 4, {.user = "root", .port = std::uint16_t{2222}}};
  CHECK(AsHostfileLine(full) == "root@b:4 port=2222");
  CHECK(ParseHostfile(AsHostfileLine(full), "f", 1).value() == HostList{full});
}

}  // namespace hvd
