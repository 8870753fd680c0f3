#include "cmd/host_source.h"

#include <utility>

#include "discovery/fixed_discovery.h"
#include "discovery/watched_file.h"

namespace hvd {

HostSource MakeHostSource(EventLoop& loop, const Settings& settings,
                          const EnvList& env) {
  const ElasticSettings& elastic = settings.elasticity;
  if (!elastic.script.empty()) {
    auto script = std::make_unique<ScriptDiscovery>(
        loop, ScriptDiscovery::Options{.command = elastic.script,
                                       .env = env,
                                       .slots_per_host = elastic.slots_per_host,
                                       .interval = elastic.discovery_interval,
                                       .timeout = elastic.discovery_timeout});
    const ScriptDiscovery* runs = script.get();
    return {std::move(script), runs};
  }
  if (!elastic.watched_file.empty()) {
    return {std::make_unique<WatchedFile>(
                loop,
                WatchedFile::Options{.path = elastic.watched_file,
                                     .slots_per_host = elastic.slots_per_host}),
            nullptr};
  }
  return {std::make_unique<FixedDiscovery>(loop, settings.hosts), nullptr};
}

}  // namespace hvd
