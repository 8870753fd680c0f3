// hvdrun-agent: runs the workers of one host for an hvdrun elsewhere, which
// starts it over ssh. Nobody types it.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cmd/run_agent.h"
#include "cmd/standard_streams.h"
#include "cmd/version.h"

int main(int argc, char** argv) {
  hvd::OpenClosedStreams();
  if (argc > 1) {
    std::printf(
        "hvdrun-agent %s: hvdrun starts it, and tells it what to do on "
        "its stdin\n",
        hvd::Version().data());
    return argv[1] == std::string_view("--version") ? 0 : 2;
  }
  // Written to are pipes and sockets, whose readers may go at any time.
  std::signal(SIGPIPE, SIG_IGN);
  return hvd::RunAgent();
}
