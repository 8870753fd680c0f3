// starts_host: starts agents as hvdrun would, and says what comes of it.
//
// usage: starts_host KEEPER [key=value]... HOSTS
//   here=PATH given=PATH install=PATH   the agent program (one of them)
//   config=FILE identity=FILE port=N args=WORDS shell=WORDS  how to log in
//   timeout=MS chatter=1
// Prints a line for each event, and ends when its stdin does.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/shell_quote.h"
#include "launcher/agent_starts.h"
#include "launcher/remote_bootstrap.h"

namespace {

using Words = std::map<std::string, std::string>;

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void SayError(const char* what, const hvd::Error& error) {
  Say(std::string(what) + ' ' + error.message());
  if (!error.hint().empty()) Say("hint " + error.hint());
}

hvd::RemoteBootstrap::Options BootstrapOptions(const std::string& keeper,
                                               Words& words) {
  using Kind = hvd::AgentPlace::Kind;
  hvd::RemoteBootstrap::Options options{.keeper_path = keeper};
  options.env = hvd::CurrentEnvironment();
  options.program_version = "1.2.3";
  options.cwd = "/";
  options.shell.ssh_config = words["config"];
  options.shell.identity_file = words["identity"];
  options.shell.ssh_args = hvd::SplitShellWords(words["args"]).value();
  options.shell.command = hvd::SplitShellWords(words["shell"]).value();
  if (!words["port"].empty()) {
    options.shell.port = static_cast<std::uint16_t>(
        std::strtol(words["port"].c_str(), nullptr, 10));
  }
  if (!words["here"].empty()) options.place = {Kind::kHere, words["here"]};
  if (!words["given"].empty()) options.place = {Kind::kGiven, words["given"]};
  if (!words["install"].empty()) {
    std::ifstream file(words["install"], std::ios::binary);
    options.program = std::make_shared<const std::string>(
        std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    options.place = {Kind::kInstall};
  }
  return options;
}

hvd::AgentStarts::Options StartOptions(Words& words) {
  hvd::AgentStarts::Options options;
  const std::string& limit = words["timeout"];
  options.start_timeout =
      hvd::Duration(limit.empty() ? 20'000 : std::atoi(limit.c_str()));
  if (!words["chatter"].empty()) options.chatter = hvd::ChatterWhen::kAtOnce;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 125;
  Words words;
  for (int i = 2; i < argc - 1; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  const auto hosts = hvd::ParseHostList(argv[argc - 1], 1);
  hvd::EventLoop loop;
  auto bootstrap =
      hvd::RemoteBootstrap::Make(loop, BootstrapOptions(argv[1], words));
  if (!bootstrap.ok() || !hosts.ok()) return 125;
  hvd::AgentStarts* known = nullptr;
  hvd::AgentStarts starts(
      loop, *bootstrap.value(), StartOptions(words),
      [](const std::string& host) { return "orders for " + host; },
      {.on_agent =
           [&](const std::string& host, const std::string& version) {
             known->Ready(host);
             Say("agent " + host + ' ' + version);
           },
       .on_failed = [](const std::string&,
                       const hvd::Error& error) { SayError("failed", error); },
       .on_ended = [](const std::string&,
                      const hvd::Error& error) { SayError("ended", error); },
       .on_chatter = [](const std::string& line) { Say("chatter " + line); }});
  known = &starts;
  for (const hvd::HostSlots& host : hosts.value()) {
    starts.Want({host.host, host.login});
  }
  std::string last;
  std::unique_ptr<hvd::Timer> timer;
  const std::function<void()> look = [&] {
    const std::string waiting = starts.Waiting();
    if (waiting != last) Say(waiting.empty() ? "nothing missing" : waiting);
    last = waiting;
    timer = loop.After(hvd::Duration(100), look);
  };
  look();
  const auto stdin_end = loop.OnReadable(0, [&] { loop.Stop(); });
  loop.Run();
  return 0;
}
