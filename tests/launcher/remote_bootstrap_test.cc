// RemoteBootstrap with programs of the test's own in the place of ssh. What a
// real ssh and sshd do is in remote_start_test.cc.
#include "launcher/remote_bootstrap.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>

#include "base/shell_quote.h"
#include "tests/discovery/pump.h"
#include "tests/support/processes.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace std::chrono_literals;

namespace hvd {
namespace {

using testing::NoneLeft;
using testing::Program;
using testing::PumpUntil;
using testing::ReadFile;
using testing::ScopedMark;
using testing::TemporaryDirectory;
using Kind = AgentPlace::Kind;
using Lines = std::vector<std::string>;

constexpr Duration kLimit{20'000};

// An ssh whose host is this machine: its login shell runs the last word.
constexpr const char* kLocal =
    "for word; do :; done; exec /bin/sh -c \"$word\"";

// One bootstrap whose `ssh` is this script, and what it told of host b.
class Fixture {
 public:
  explicit Fixture(const std::string& ssh, AgentPlace place = StandIn(),
                   RemoteShell shell = {}) {
    directory_.Write("ssh", "#!/bin/sh\n" + ssh + '\n', 0755);
    std::filesystem::create_directory(directory_ / "tmp");
    RemoteBootstrap::Options options{.keeper_path = HVD_TEST_KEEPER,
                                     .shell = std::move(shell),
                                     .place = std::move(place),
                                     .program_version = "1.2.3",
                                     .cwd = directory_.path()};
    if (options.place.kind == Kind::kInstall) {
      options.program =
          std::make_shared<const std::string>(ReadFile(HVD_TEST_AGENT));
    }
    options.env = {{"PATH", directory_.path() + ":/usr/bin:/bin"},
                   {"MARK", mark_.text()},
                   {"TMPDIR", directory_ / "tmp"},
                   {"DISPLAY", ":0"},
                   {"SSH_ASKPASS", "/bin/false"}};
    auto made = RemoteBootstrap::Make(loop_, std::move(options));
    REQUIRE(made.ok());
    bootstrap_ = std::move(made).value();
  }

  static AgentPlace StandIn() { return {Kind::kGiven, HVD_TEST_AGENT}; }

  void Start(std::string payload = "orders", const RemoteHost& host = {"b"}) {
    end.reset();
    attempt_ = bootstrap_->Start(
        host, std::move(payload),
        {.on_chatter =
             [this](std::string_view line) { said.emplace_back(line); },
         .on_login = [this] { logged_in = true; },
         .on_agent = [this](const std::string& v) { version = v; },
         .on_end = [this](BootstrapEnd e) { end = std::move(e); }});
    CHECK_FALSE(end.has_value());  // never from inside
  }
  void Stop() { attempt_.reset(); }

  bool Until(const std::function<bool()>& done) {
    const bool came = PumpUntil(loop_, done, kLimit);
    if (!came) UNSCOPED_INFO(Told());
    return came;
  }
  BootstrapEnd End() {
    REQUIRE(Until([&] { return end.has_value(); }));
    return *end;
  }
  bool Says(const std::string& text) {
    return Until([&] { return Told().find(text) != std::string::npos; });
  }
  std::string Told() const {
    std::string told;
    for (const std::string& line : said) told += line + '\n';
    if (end) told += "end: " + end->error.message() + '\n';
    return told;
  }
  // The keeper has this test's environment, not the mark.
  bool OnlyKeeperLeft() const { return testing::NoneLeft(mark_.text(), 5s); }

  EventLoop& loop() { return loop_; }
  RemoteBootstrap& bootstrap() { return *bootstrap_; }
  const TemporaryDirectory& directory() const { return directory_; }

  Lines said;
  bool logged_in = false;
  std::optional<std::string> version;
  std::optional<BootstrapEnd> end;

 private:
  TemporaryDirectory directory_;
  ScopedMark mark_;
  EventLoop loop_;
  std::unique_ptr<RemoteBootstrap> bootstrap_;
  std::unique_ptr<BootstrapAttempt> attempt_;
};

}  // namespace

TEST_CASE("an agent gets its orders, and its stdin stays open until the end",
          "[launcher]") {
  Fixture f(kLocal);
  f.Start("orders");
  REQUIRE(f.Says("orders: 6 bytes"));
  CHECK(f.logged_in);
  CHECK(f.version == "1.2.3");
  CHECK_FALSE(f.end.has_value());
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("orders of a mebibyte reach the agent whole", "[launcher]") {
  Fixture f(kLocal);
  f.Start(std::string(kMaxAgentPayload, 'x'));
  CHECK(f.Says("orders: 1048576 bytes"));
}

TEST_CASE("a refused login is told with the very command to paste",
          "[launcher]") {
  Fixture f(
      "printf '%s\\n' \"$@\" >>argv; echo 'Permission denied "
      "(publickey).' >&2; exit 255",
      Fixture::StandIn(), {.port = std::uint16_t{2222}});
  f.Start("a secret", {"b", {.user = "root"}});
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAuthenticate);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: authenticate: Permission denied (publickey).");
  const std::string argv = ReadFile(f.directory() / "argv");
  CHECK(argv.find("-p\n2222\nroot@b\n") != std::string::npos);
  CHECK(argv.find("secret") == std::string::npos);

  const std::string& hint = end.error.hint();
  const std::string by_hand = "by hand: ";
  REQUIRE(hint.find(by_hand) != std::string::npos);
  const std::string command = hint.substr(hint.find(by_hand) + by_hand.size());
  std::filesystem::remove(f.directory() / "argv");
  const auto pasted = testing::RunProgram(
      {"/bin/sh", "-c", command},
      {.env = {{"PATH", f.directory().path() + ":/usr/bin:/bin"}},
       .cwd = f.directory().path()});
  CHECK(pasted.status.code == 255);
  CHECK(ReadFile(f.directory() / "argv") == argv);
}

TEST_CASE("what a login shell says before the agent does no harm",
          "[launcher]") {
  Fixture f(
      "printf 'Welcome\\r\\n\\033[31m\\377\\000\\001 red\\n  '; echo "
      "banner >&2; printf 'no end'; " +
      std::string(kLocal));
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  const std::string told = f.Told();
  CHECK(told.find("Welcome\n") != std::string::npos);
  CHECK(told.find("banner\n") != std::string::npos);
  CHECK(told.find("no end\n") != std::string::npos);
  CHECK(told.find('\033') == std::string::npos);
}

TEST_CASE("a login shell that never stops talking is stopped", "[launcher]") {
  const bool on_stderr = GENERATE(false, true);
  Fixture f(on_stderr ? "yes hello >&2" : "yes hello | tr -d '\\n'");
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find("more than 256 KiB") != std::string::npos);
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("an agent that is not there is named with path and remedy",
          "[launcher]") {
  Fixture missing(kLocal, {Kind::kGiven, "/no such/agent"});
  missing.Start();
  const BootstrapEnd end = missing.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find(
            "there is no hvdrun-agent at /no such/agent") != std::string::npos);
  CHECK(end.error.hint().find("--install-agent") != std::string::npos);

  Fixture unusable(kLocal, {Kind::kGiven, "/etc/passwd"});
  unusable.Start();
  CHECK(unusable.End().error.message().find(
            "hvdrun-agent at /etc/passwd cannot be run") != std::string::npos);
}

TEST_CASE("an agent is found where it is here, or in the PATH there",
          "[launcher]") {
  Fixture here(kLocal, {Kind::kHere, HVD_TEST_AGENT});
  here.Start();
  CHECK(here.Says("orders: 6 bytes"));
  Fixture there(kLocal, {Kind::kHere, "/no/such/agent"});
  std::filesystem::create_symlink(HVD_TEST_AGENT,
                                  there.directory() / "hvdrun-agent");
  there.Start();
  CHECK(there.Says("orders: 6 bytes"));
}

TEST_CASE("an agent of another protocol gets no orders", "[launcher]") {
  Fixture f(
      "echo HVDRUN-LOGIN; echo HVDRUN-AGENT 99 9.9; cat >orders; sleep 60");
  f.Start("a secret");
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: agent starts: hvdrun-agent at " HVD_TEST_AGENT
        " is of hvdrun 9.9 and speaks protocol 99, this is hvdrun 1.2.3 with "
        "protocol 1");
  CHECK(end.error.hint().find("install the same hvdrun there") == 0);
  CHECK(f.OnlyKeeperLeft());
  CHECK(ReadFile(f.directory() / "orders").empty());
}

TEST_CASE("an ssh that is not installed is said to be missing here",
          "[launcher]") {
  Fixture f("", Fixture::StandIn(), {.command = {"no-such-command"}});
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message() ==
        "host b: connect: no-such-command: command not found");
}

TEST_CASE("a name that would mean something to a shell goes to none",
          "[launcher]") {
  Fixture f("touch ran");
  f.Start("orders", {"b;touch x"});
  CHECK(f.End().again == Again::kHopeless);
  f.Start("orders", {"b", {.user = "$(touch x)"}});
  CHECK(f.End().phase == StartPhase::kResolve);
  CHECK_FALSE(std::filesystem::exists(f.directory() / "ran"));
}

TEST_CASE("a host is tried again when there were no descriptors for it",
          "[launcher]") {
  Fixture f(kLocal);
  {
    std::vector<UniqueFd> all;
    for (int fd = ::dup(1); fd >= 0; fd = ::dup(1)) all.emplace_back(fd);
    REQUIRE(all.size() > 2);
    all.resize(all.size() - 2);  // room for less than is needed
    f.Start();
  }
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.error.message() == "host b: resolve: pipe: Too many open files");
  f.Start();
  CHECK(f.Says("orders: 6 bytes"));
}

TEST_CASE("an agent's last words come with its end", "[launcher]") {
  Fixture f(
      "echo noise >&2; echo HVDRUN-LOGIN; echo HVDRUN-AGENT 1 1.2.3; "
      "read orders; echo 'out of memory' >&2; exit 7");
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(f.version == "1.2.3");
  CHECK(end.phase == StartPhase::kAgentAnswers);
  CHECK(end.error.message() ==
        "host b: agent answers: the agent ended with exit code 7 (out of "
        "memory)");
}

TEST_CASE("a killed ssh ends its host and may be tried again", "[launcher]") {
  Fixture f("echo $$ >pid; " + std::string(kLocal));
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  REQUIRE(::kill(std::stoi(ReadFile(f.directory() / "pid")), SIGKILL) == 0);
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.error.message().starts_with(
      "host b: agent answers: the connection to its agent ended"));
}

TEST_CASE("a command that minds nothing is ended with all it has started",
          "[launcher]") {
  Fixture f(
      "trap '' TERM HUP INT; sleep 600 & exec <&-; while :; do sleep "
      "0.05; done");
  f.Start();
  // It has begun.
  REQUIRE(f.Until([&] {
    return testing::ChildrenOf(f.bootstrap().keeper_pid()).size() == 1;
  }));
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("an installed agent runs from a file that is gone already",
          "[launcher]") {
  Fixture f(kLocal, {Kind::kInstall});
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  CHECK(f.version == "1.2.3");
  CHECK(std::filesystem::is_empty(f.directory() / "tmp"));
  f.Stop();
  CHECK(f.OnlyKeeperLeft());
}

TEST_CASE("half an agent leaves nothing behind and may be tried again",
          "[launcher]") {
  Fixture f("for word; do :; done; head -c 100000 | /bin/sh -c \"$word\"",
            {Kind::kInstall});
  f.Start();
  const BootstrapEnd end = f.End();
  CHECK(end.phase == StartPhase::kAgentStarts);
  CHECK(end.again == Again::kWorthIt);
  CHECK(end.reason == "the agent program did not come through");
  CHECK(std::filesystem::is_empty(f.directory() / "tmp"));
}

TEST_CASE("any login shell reads the words for the agent the same way",
          "[launcher]") {
  const std::string shell =
      GENERATE("dash", "bash", "bash --posix", "tcsh", "fish");
  CAPTURE(shell);
  const TemporaryDirectory place;
  const std::string odd = place / "it's a \"dir\" !1 $x \\ `y` {a,b} *";
  std::filesystem::create_directory(odd);
  std::filesystem::copy(HVD_TEST_AGENT, odd + "/agent");
  for (const AgentPlace& agent :
       {AgentPlace{Kind::kGiven, odd + "/agent"}, AgentPlace{Kind::kInstall}}) {
    Fixture f("for word; do :; done; exec " + shell + " -c \"$word\"", agent);
    f.Start();
    CHECK(f.Says("orders: 6 bytes"));
  }
}

TEST_CASE("ssh has no terminal and no window to ask anything on",
          "[launcher]") {
  const TemporaryDirectory directory;
  directory.Write("ssh",
                  "#!/bin/sh\nif echo '' >/dev/tty; then echo has a tty >&2; "
                  "else echo no tty >&2; fi\n"
                  "echo \"window: $DISPLAY$SSH_ASKPASS.\" >&2; exit 255\n",
                  0755);
  Program host({HVD_TEST_STARTS_HOST, HVD_TEST_KEEPER, "given=/x", "chatter=1",
                "timeout=300", "b"},
               {.env = {{"PATH", directory.path() + ":/usr/bin:/bin"},
                        {"DISPLAY", ":0"},
                        {"SSH_ASKPASS", "/bin/false"}},
                .terminal = true});
  CHECK(host.WaitForOutput("failed host b"));
  CHECK(host.out().find("ssh b: no tty") != std::string::npos);
  CHECK(host.out().find("ssh b: window: .") != std::string::npos);
}

TEST_CASE("killing the launcher alone leaves no ssh, whatever that minds",
          "[launcher]") {
  const ScopedMark mark;
  const TemporaryDirectory directory;
  directory.Write("ssh",
                  "#!/bin/sh\ntrap '' TERM HUP INT PIPE\n(setsid sleep 600 &)\n"
                  "sleep 600 &\necho up >&2\nwhile :; do sleep 0.05; done\n",
                  0755);
  Program host(
      {HVD_TEST_STARTS_HOST, HVD_TEST_KEEPER, "given=/x", "chatter=1", "b,c"},
      {.env = {{"PATH", directory.path() + ":/usr/bin:/bin"},
               {"MARK", mark.text()}},
       .terminal = true});
  REQUIRE(host.WaitForOutput("ssh b: up"));
  REQUIRE(host.WaitForOutput("ssh c: up"));
  host.Signal(SIGKILL);
  CHECK(host.Wait().status == ExitStatus{0, SIGKILL});
  CHECK(NoneLeft(mark.text(), 5s));
}

TEST_CASE("a killed keeper ends every connection and is told", "[launcher]") {
  Fixture f(kLocal);
  f.Start();
  REQUIRE(f.Says("orders: 6 bytes"));
  REQUIRE(::kill(f.bootstrap().keeper_pid(), SIGKILL) == 0);
  const BootstrapEnd end = f.End();
  CHECK(end.again == Again::kHopeless);
  CHECK(end.error.message().find("the keeper was killed") != std::string::npos);
  f.Start();
  CHECK(f.End().error.message().find("the keeper is gone") !=
        std::string::npos);
}

}  // namespace hvd
