// launcher_host: the smallest parent of a keeper, to be killed by tests.
//
// usage: launcher_host KEEPER GRACE_MS COMMAND...
// The worker gets its stdin. Prints "started PID" once the worker runs; exits
// as the worker did.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "launcher/local_launcher.h"
#include "launcher/stdin_relay.h"

int main(int argc, char** argv) {
  using hvd::LaunchId;
  if (argc < 4) return 125;
  hvd::EventLoop loop;
  int exit_code = 125;
  auto launcher = hvd::LocalLauncher::Start(
      loop,
      {.keeper_path = argv[1],
       .lifeline_grace = hvd::Duration(std::strtol(argv[2], nullptr, 10))},
      {.on_started =
           [](LaunchId, pid_t pid) {
             std::printf("started %d\n", pid);
             std::fflush(stdout);
           },
       .on_start_failed =
           [&](LaunchId, const hvd::Error& error) {
             std::fprintf(stderr, "%s\n", error.message().c_str());
             loop.Stop();
           },
       .on_exit =
           [&](LaunchId, hvd::ExitStatus status) {
             exit_code = status.ToShell();
             loop.Stop();
           }});
  if (!launcher.ok()) {
    std::fprintf(stderr, "%s\n", launcher.error().message().c_str());
    return 125;
  }
  hvd::StdinRelay relay(loop, 0);
  launcher.value()->Launch(
      LaunchId{0}, {.argv = std::vector<std::string>(argv + 3, argv + argc),
                    .env = hvd::CurrentEnvironment(),
                    .cwd = "/",
                    .stdin_fd = relay.Attach().value(),
                    .stdout_fd = hvd::UniqueFd(::dup(1)),
                    .stderr_fd = hvd::UniqueFd(::dup(2))});
  loop.Run();
  return exit_code;
}
