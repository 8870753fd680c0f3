#include "cmd/many_hosts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/random_bytes.h"
#include "base/read_file.h"
#include "cmd/install_paths.h"
#include "cmd/version.h"
#include "launcher/remote_bootstrap.h"

namespace hvd {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr Duration kUnknownNameLimit{5'000};

// The driver has the same limit, and can say less about what is missing.
Duration ALittleLessThan(Duration limit) {
  return std::max(limit * 9 / 10, limit - Duration{500});
}

// kNotFound: the agent is to be installed there, and isn't here.
Result<RemoteBootstrap::Options> BootstrapOptions(
    const ManyHosts::Parts& parts) {
  RemoteBootstrap::Options options;
  options.keeper_path = parts.keeper_path;
  options.shell = parts.settings.remote.shell;
  options.place = parts.settings.remote.place;
  const Result<std::string> agent = AgentPath();
  switch (options.place.kind) {
    case AgentPlace::Kind::kHere:
      options.place.path = agent.ok() ? agent.value() : "hvdrun-agent";
      break;
    case AgentPlace::Kind::kGiven:
      break;
    case AgentPlace::Kind::kInstall: {
      if (!agent.ok()) return Error(agent.error()).Wrap("--install-agent");
      Result<std::string> bytes = ReadWholeFile(agent.value());
      if (!bytes.ok()) return std::move(bytes).error().Wrap("--install-agent");
      options.program =
          std::make_shared<const std::string>(std::move(bytes).value());
      break;
    }
  }
  const Result<std::string> ssh_config = SshConfigPath();
  if (ssh_config.ok()) options.shell.ssh_config = ssh_config.value();
  options.program_version = Version();
  options.env = parts.own_env;
  options.spare = parts.spare;
  options.shell.connect_timeout =
      std::min(options.shell.connect_timeout, parts.settings.start_timeout);
  return options;
}

RemoteHosts::Options HostsOptions(const ManyHosts::Parts& parts,
                                  HostsNeeded needed) {
  const Settings& settings = parts.settings;
  RemoteHosts::Options options;
  options.needed = needed;
  options.user_env = parts.own_env;
  options.only_interfaces = settings.network_interfaces;
  options.pool.ports = settings.port_range;
  options.say = parts.say;
  if (needed == HostsNeeded::kAll) {
    options.unknown_name_limit = kUnknownNameLimit;
  }
  options.pool.library_path = RemoteLibraryPath();
  options.pool.probe_key = RandomBytes(kKeyBytes);
  options.pool.store_port = parts.server.port();
  options.pool.host_timeout = settings.host_timeout;
  options.pool.stop_grace = settings.stop_grace;
  options.pool.tree.limits = {.fan_out = settings.remote.fan_out,
                              .at_once = settings.remote.connect_concurrency};
  options.pool.starts.chatter =
      settings.verbose ? ChatterWhen::kAtOnce : ChatterWhen::kHostFailed;
  options.pool.starts.start_timeout = ALittleLessThan(settings.start_timeout);
  if (settings.elastic) {
    options.pool.stopped_limit = settings.elasticity.worker_timeout;
  }
  for (const EnvRequest& request : settings.env) {
    options.pool.kept_variables.push_back(request.name);
  }
  return options;
}

}  // namespace

// A job that may stay on one machine does not pay for the way to others.
class BootstrapOnDemand : public Bootstrap {
 public:
  BootstrapOnDemand(EventLoop& loop, RemoteBootstrap::Options options)
      : loop_(loop), options_(std::move(options)) {}

  std::unique_ptr<BootstrapAttempt> Start(const RemoteHost& host,
                                          MakePayload make_payload,
                                          BootstrapHandlers handlers) override {
    if (!bootstrap_) {
      Result<std::unique_ptr<RemoteBootstrap>> made =
          RemoteBootstrap::Make(loop_, std::move(options_));
      if (!made.ok()) return Refuse(made.error(), std::move(handlers));
      bootstrap_ = std::move(made).value();
    }
    return bootstrap_->Start(host, std::move(make_payload),
                             std::move(handlers));
  }
  bool Runs(pid_t pid) const {
    return bootstrap_ && bootstrap_->keeper_pid() == pid;
  }

 private:
  struct Refused : BootstrapAttempt {
    std::unique_ptr<Timer> timer;
  };

  std::unique_ptr<BootstrapAttempt> Refuse(const Error& why,
                                           BootstrapHandlers handlers) {
    auto refused = std::make_unique<Refused>();
    refused->timer =
        loop_.After(Duration{0}, [why, on_end = std::move(handlers.on_end)] {
          on_end({.error = why,
                  .reason = why.message(),
                  .again = Again::kHopeless});
        });
    return refused;
  }

  EventLoop& loop_;
  RemoteBootstrap::Options options_;
  std::unique_ptr<RemoteBootstrap> bootstrap_;
};

Result<std::unique_ptr<ManyHosts>> ManyHosts::Make(EventLoop& loop,
                                                   Parts parts) {
  Result<RemoteBootstrap::Options> bootstrap = BootstrapOptions(parts);
  if (!bootstrap.ok()) return std::move(bootstrap).error();
  const RemoteShell shell = bootstrap.value().shell;
  const AgentPlace place = bootstrap.value().place;
  auto many = std::unique_ptr<ManyHosts>(new ManyHosts(
      loop, parts,
      std::make_unique<BootstrapOnDemand>(loop, std::move(bootstrap).value())));
  RemoteHosts::Options options = HostsOptions(parts, many->needed_);
  options.pool.tree.shell = shell;
  options.pool.tree.place = place;
  Result<std::unique_ptr<RemoteHosts>> hosts =
      RemoteHosts::Make(loop, std::move(options),
                        {.bootstrap = *many->bootstrap_,
                         .worker_handlers = parts.worker_handlers,
                         .local = parts.local,
                         .router = many->router_,
                         .server = parts.server,
                         .env = parts.env});
  if (!hosts.ok()) return std::move(hosts).error();
  many->hosts_ = std::move(hosts).value();
  return many;
}

ManyHosts::ManyHosts(EventLoop& loop, const Parts& parts,
                     std::unique_ptr<BootstrapOnDemand> bootstrap)
    : loop_(loop),
      needed_(parts.settings.elastic ? HostsNeeded::kAny : HostsNeeded::kAll),
      router_(loop, parts.worker_handlers),
      bootstrap_(std::move(bootstrap)) {}

ManyHosts::~ManyHosts() = default;

bool ManyHosts::Runs(pid_t pid) const { return bootstrap_->Runs(pid); }

std::unique_ptr<HostDiscovery> ManyHosts::Prove(
    std::unique_ptr<HostDiscovery> source, ProvedHosts::LostHandler on_lost) {
  return std::make_unique<ProvedHosts>(loop_, std::move(source), *hosts_,
                                       needed_, std::move(on_lost));
}

}  // namespace hvd
