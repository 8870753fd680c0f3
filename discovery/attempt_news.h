// AttemptNews: what of a discovery's attempts is worth telling.
//
// The first attempt must succeed. After it, a list is told when it differs, a
// failure when its kind does: a script that fails every second warns once.
//
// Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "discovery/host_discovery.h"

namespace hvd {

// What a user would do about it differs from kind to kind.
enum class FailureKind {
  kNotStarted,
  kExitStatus,
  kSignal,
  kTimeout,
  kTooMuchOutput,
  kBadLine,
  kUnreadable,
  kGone,
  kUnwatched,
};

struct DiscoveryFailure {
  FailureKind kind;
  Error error;
};

using Attempt = std::variant<HostList, DiscoveryFailure>;

// The hosts that `text` lists, in the syntax of a hostfile, or the bad line.
Attempt ParseAttempt(const std::string& text, const std::string& name,
                     int default_slots);

class AttemptNews {
 public:
  // `name` begins a line that says that it works again.
  AttemptNews(std::string name, DiscoveryHandlers handlers);

  // kOver: discovery has failed, and nothing is told any more, or a handler has
  // destroyed it, this included.
  enum class Next { kGoOn, kOver };
  Next Tell(const Attempt& attempt);

 private:
  Next TellHosts(const HostList& hosts);
  Next TellFailure(const DiscoveryFailure& failure);
  Next Warn(const std::string& line);

  std::string name_;
  // A handler may destroy this object, but not itself while it runs.
  std::shared_ptr<const DiscoveryHandlers> handlers_;
  bool failed_ = false;
  std::optional<HostList> hosts_;         // the last good list
  std::optional<FailureKind> last_kind_;  // since the last good attempt
};

}  // namespace hvd
