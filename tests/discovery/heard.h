// Heard: what a discovery has told so far.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "discovery/host_discovery.h"

namespace hvd::testing {

struct Heard {
  std::vector<HostList> lists;
  std::vector<Error> failures;
  std::vector<std::string> warnings;

  DiscoveryHandlers Handlers() {
    return {
        .on_hosts =
            [this](HostList hosts) { lists.push_back(std::move(hosts)); },
        .on_failed =
            [this](Error error) { failures.push_back(std::move(error)); },
        .on_warning =
            [this](std::string line) { warnings.push_back(std::move(line)); },
    };
  }
};

}  // namespace hvd::testing
