// hvdrun: starts the workers of a distributed training job and minds them.
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/read_file.h"
#include "cmd/build_report.h"
#include "cmd/check_hosts.h"
#include "cmd/exit_code.h"
#include "cmd/help_text.h"
#include "cmd/install_paths.h"
#include "cmd/refuse.h"
#include "cmd/settings.h"
#include "cmd/signals.h"
#include "cmd/simulate.h"
#include "cmd/standard_streams.h"
#include "cmd/version.h"
#include "cmd/wiring.h"

namespace hvd {
namespace {

int Main(const std::vector<std::string>& words, const EnvList& env,
         const sigset_t& handled) {
  const Result<Settings> settings = ParseSettings(words, env, ReadWholeFile);
  if (!settings.ok()) return Refuse(settings.error());
  switch (settings.value().mode) {
    case RunMode::kHelp:
      WriteStdout(HelpText());
      return 0;
    case RunMode::kVersion:
      WriteStdout("hvdrun " + std::string(Version()) + '\n');
      return 0;
    case RunMode::kCheckBuild:
      WriteStdout(BuildReportText({std::string(Version()), CompilerText(),
                                   KeeperPath(), LibhvdPath(), AgentPath()}));
      return 0;
    case RunMode::kCheckHosts:
      return CheckHosts(settings.value(), env, handled);
    case RunMode::kSimulate:
      return Simulate(
          settings.value(), ThreadTime(),
          [](const std::string& lines) { WriteStdout(lines + '\n'); });
    case RunMode::kDryRun:
    case RunMode::kRun:
      return RunHvdrun(settings.value(), env, handled);
  }
  return kExitOwnFault;
}

}  // namespace
}  // namespace hvd

int main(int argc, char** argv) {
  hvd::OpenClosedStreams();
  const sigset_t handled = hvd::BlockHandledSignals();
  const hvd::EnvList env = hvd::CurrentEnvironment();
  return hvd::Main({argv + 1, argv + argc}, env, handled);
}
