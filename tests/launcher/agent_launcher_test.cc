#include "launcher/agent_launcher.h"

#include <fcntl.h>
#include <signal.h>

#include <catch2/catch.hpp>

#include "discovery/probe_listener.h"
#include "launcher/blocked_signal.h"
#include "tests/launcher/agent_host.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {

using testing::AgentHost;

TEST_CASE("a worker behind an agent starts, prints and exits as a local one",
          "[agent]") {
  AgentHost t;
  const LaunchId id = t.Shell("echo out; echo err >&2; exit 3");
  CHECK(t.WaitForExit(id) == ExitStatus{3, 0});
  CHECK(t.pids.at(id) > 0);
  CHECK(t.Output(id) == "out\n");
  CHECK(t.Errors(id) == "err\n");
}

TEST_CASE("what an agent says about itself comes first", "[agent]") {
  AgentHost t;
  REQUIRE(t.WaitUntil([&] { return !t.events.empty(); }));
  const auto* about = std::get_if<AgentAbout>(&t.events.front());
  REQUIRE(about != nullptr);
  CHECK(about->version == "1.2");
  CHECK(about->store_port != 0);
}

TEST_CASE("an agent tells its time and measures a link", "[agent]") {
  AgentHost t;
  const auto listener = ProbeListener::Listen(
      t.loop(), {.key = "key", .identity = "other", .ports = {}});
  REQUIRE(listener.ok());
  t.launcher().Send(AgentAskTime{3});
  t.launcher().Send(
      AgentMeasure{4, {"127.0.0.1", listener.value()->port(), "other"}});
  REQUIRE(t.WaitUntil([&] { return t.events.size() == 3; }));
  const auto* time = std::get_if<AgentTime>(&t.events[1]);
  REQUIRE(time != nullptr);
  CHECK(time->number == 3);
  CHECK(time->unix_us > 1'700'000'000'000'000);
  const auto* measured = std::get_if<AgentMeasured>(&t.events[2]);
  REQUIRE(measured != nullptr);
  CHECK(measured->number == 4);
  CHECK(measured->result.failure.empty());
  CHECK(measured->result.load_bytes > 0);
}

TEST_CASE("all that a worker printed is here when its end is told", "[agent]") {
  AgentHost t;
  // More than pipes and windows hold, all of it just before the end.
  const LaunchId id = t.Shell("head -c 3000000 /dev/zero | tr '\\0' x");
  std::size_t seen = 0;
  REQUIRE(t.WaitUntil([&] {
    seen = t.Output(id).size();
    return t.exits.contains(id);
  }));
  CHECK(t.Output(id).size() == 3'000'000);
}

TEST_CASE("an end is told though nobody reads what the worker printed",
          "[agent]") {
  AgentHost t;
  const LaunchId fast = t.Shell("head -c 9000000 /dev/zero; sleep 60");
  const LaunchId other = t.Shell("echo done; exit 4");
  CHECK(t.loop().RunUntil([&] { return t.exits.contains(other); }, 10s));
  CHECK(t.exits.at(other) == ExitStatus{4, 0});
  t.launcher().Stop(fast, SIGTERM, 100ms);
  CHECK(t.loop().RunUntil([&] { return t.exits.contains(fast); }, 10s));
}

TEST_CASE("a command that does not exist there is named with the host",
          "[agent]") {
  AgentHost t;
  const LaunchId id = t.Launch({"/no/such/program"});
  REQUIRE(t.WaitUntil([&] { return t.failures.contains(id); }));
  CHECK(t.failures.at(id).code() == ErrorCode::kNotFound);
  CHECK(t.failures.at(id).message() ==
        "on host b: /no/such/program: No such file or directory");
}

TEST_CASE("a worker there reads what is given to it here", "[agent]") {
  AgentHost t;
  const testing::TemporaryDirectory directory;
  const std::string text(300'000, 'y');
  const std::string path = directory.Write("input", text);
  const LaunchId file = t.Launch(
      {"cat"}, {}, UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  REQUIRE(t.WaitUntil([&] {
    t.Output(file);
    return t.exits.contains(file);
  }));
  CHECK((t.Output(file) == text));
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const LaunchId pipe = t.Launch({"cat"}, {}, UniqueFd(ends[0]));
  REQUIRE(::write(ends[1], "hello", 5) == 5);
  CHECK(t.WaitForOutput(pipe, "hello"));
  ::close(ends[1]);
  CHECK(t.WaitForExit(pipe) == ExitStatus{});
}

TEST_CASE("a worker there without input reads end of file", "[agent]") {
  AgentHost t;
  CHECK(t.WaitForExit(t.Launch({"cat"})) == ExitStatus{});
}

TEST_CASE("input that a worker does not want is not read any more", "[agent]") {
  AgentHost t;
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  const LaunchId id = t.Launch({"sh", "-c", "exec <&-; echo closed; sleep 60"},
                               {}, UniqueFd(ends[0]));
  REQUIRE(t.WaitForOutput(id, "closed"));
  // Read once, refused there, and then nobody reads here either.
  const BlockedSignal no_pipe(SIGPIPE);
  CHECK(t.WaitUntil(
      [&] { return ::write(ends[1], "x", 1) < 0 && errno == EPIPE; }));
  ::close(ends[1]);
  t.launcher().Stop(id, SIGKILL, 0ms);
  t.WaitForExit(id);
}

TEST_CASE("a login's variables are those of the other host", "[agent]") {
  AgentHost t;
  const LaunchId id =
      t.Launch({"sh", "-c", "echo $HOME,$USER,$MINE,$SSH_AUTH_SOCK,"},
               {{"HOME", "/here"},
                {"USER", "asked-for"},
                {"MINE", "1"},
                {"SSH_AUTH_SOCK", "/here/socket"}});
  t.WaitForExit(id);
  CHECK(t.Output(id) == "/there,asked-for,1,,\n");
}

TEST_CASE("signals and the stop ladder reach a worker there", "[agent]") {
  AgentHost t;
  const LaunchId traps =
      t.Shell("trap 'echo usr' USR1; echo up; while :; do sleep 0.05; done");
  const LaunchId stubborn =
      t.Shell("trap '' TERM; echo up; while :; do sleep 0.05; done");
  REQUIRE(t.WaitForOutput(traps, "up"));
  REQUIRE(t.WaitForOutput(stubborn, "up"));
  t.launcher().Signal(traps, SIGUSR1);
  CHECK(t.WaitForOutput(traps, "usr"));
  t.launcher().Stop(traps, SIGTERM, 20s);
  CHECK(t.WaitForExit(traps) == ExitStatus{0, SIGTERM});
  t.launcher().Stop(stubborn, SIGTERM, 100ms);
  CHECK(t.WaitForExit(stubborn) == ExitStatus{0, SIGKILL});
}

TEST_CASE("what workers there left behind is stopped", "[agent]") {
  AgentHost t;
  const testing::ScopedMark mark;
  const LaunchId id =
      t.Shell("setsid sleep 60 & exit 0", {{"HVD_TEST_MARK", mark.text()}});
  t.WaitForExit(id);
  bool done = false;
  t.launcher().StopLeftovers(200ms, [&] { done = true; });
  REQUIRE(t.WaitUntil([&] { return done; }));
  CHECK(testing::ProcessesWith(mark.text()).empty());
}

TEST_CASE("a host that says nothing is lost, and so is hvdrun to its agent",
          "[agent]") {
  AgentHost t(400ms);
  const testing::ScopedMark mark;
  const LaunchId id = t.Shell("sleep 60", {{"HVD_TEST_MARK", mark.text()}});
  REQUIRE(t.WaitUntil([&] { return t.pids.contains(id); }));
  t.cable().cut = true;
  REQUIRE(t.WaitUntil([&] { return t.lost && t.agent_end; }));
  CHECK(t.lost->message() == "its agent has been silent for 0.4 s");
  REQUIRE(t.agent_end->has_value());
  CHECK((*t.agent_end)->message() == "hvdrun has been silent for 0.4 s");
  CHECK(t.exits.empty());
  CHECK(
      t.WaitUntil([&] { return testing::ProcessesWith(mark.text()).empty(); }));
}

TEST_CASE("a host that has nothing to report is not lost", "[agent]") {
  AgentHost t(200ms);
  const LaunchId id = t.Shell("sleep 1");
  CHECK(t.WaitForExit(id) == ExitStatus{});
  CHECK_FALSE(t.lost.has_value());
  CHECK_FALSE(t.agent_end.has_value());
}

TEST_CASE("the end of an agent is the loss of its host at once", "[agent]") {
  AgentHost t;
  const LaunchId id = t.Shell("sleep 60");
  REQUIRE(t.WaitUntil([&] { return t.pids.contains(id); }));
  t.EndAgent();
  REQUIRE(t.WaitUntil([&] { return t.lost.has_value(); }, 5s));
  // What is asked of it afterwards is answered, as nothing is left to do.
  bool done = false;
  t.launcher().StopLeftovers(0ms, [&] { done = true; });
  CHECK(t.WaitUntil([&] { return done; }));
  const LaunchId late = t.Shell("true");
  REQUIRE(t.WaitUntil([&] { return t.failures.contains(late); }));
  CHECK(t.failures.at(late).code() == ErrorCode::kUnavailable);
}

TEST_CASE("a keeper that is killed there is the loss of its host", "[agent]") {
  AgentHost t;
  const testing::ScopedMark mark;
  const LaunchId id = t.Shell("sleep 60", {{"HVD_TEST_MARK", mark.text()}});
  REQUIRE(t.WaitUntil([&] { return t.pids.contains(id); }));
  ::kill(t.keeper_pid(), SIGKILL);
  REQUIRE(t.WaitUntil([&] { return t.lost.has_value(); }));
  CHECK(t.lost->message().find("keeper") != std::string::npos);
  CHECK(
      t.WaitUntil([&] { return testing::ProcessesWith(mark.text()).empty(); }));
}

TEST_CASE("an agent ends when hvdrun says farewell", "[agent]") {
  AgentHost t;
  t.EndHvdrun();
  REQUIRE(t.WaitUntil([&] { return t.agent_end.has_value(); }));
  CHECK_FALSE(t.agent_end->has_value());
}

TEST_CASE("an agent does not take a rest of hvdrun for its end", "[agent]") {
  AgentHost t(300ms);
  bool rests = false;
  t.launcher().Rest([&] { rests = true; });
  REQUIRE(t.WaitUntil([&] { return rests; }));
  t.cable().cut = true;  // as if hvdrun were stopped now
  t.loop().RunUntil([&] { return t.agent_end.has_value(); }, 900ms);
  CHECK_FALSE(t.agent_end.has_value());
}

}  // namespace hvd
