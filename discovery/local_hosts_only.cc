#include "discovery/local_hosts_only.h"

#include <utility>

namespace hvd {

LocalHostsOnly::LocalHostsOnly(EventLoop& loop,
                               std::unique_ptr<HostDiscovery> source,
                               Duration lookup_limit, OnAddress on_address)
    : loop_(loop),
      lookup_limit_(lookup_limit),
      on_address_(std::move(on_address)),
      source_(std::move(source)) {}

void LocalHostsOnly::Start(DiscoveryHandlers handlers) {
  handlers_ = std::move(handlers);
  source_->Start(
      {.on_hosts = [this](HostList hosts) { OnHosts(std::move(hosts)); },
       .on_failed = handlers_.on_failed,
       .on_warning = handlers_.on_warning});
}

void LocalHostsOnly::OnHosts(HostList hosts) {
  const bool first = !std::exchange(listed_, true);
  newest_ = std::move(hosts);
  for (const HostSlots& host : newest_) {
    if (first) first_.insert(host.host);
    LookUp(host.host);
  }
  // From the loop, as a handler may destroy this.
  if (lookups_.empty()) next_ = loop_.After(Duration{0}, [this] { PassOn(); });
}

void LocalHostsOnly::LookUp(const std::string& host) {
  if (local_.contains(host) || lookups_.contains(host)) return;
  others_.erase(host);  // its address may be another by now
  lookups_[host] =
      LookUpHosts(loop_, {host}, lookup_limit_,
                  [this, host](const Result<std::vector<HostAddress>>& found) {
                    OnLookedUp(host, found);
                  });
}

void LocalHostsOnly::OnLookedUp(const std::string& host,
                                const Result<std::vector<HostAddress>>& found) {
  if (!found.ok()) {
    others_.emplace(host, found.error());
  } else if (const HostAddress& address = found.value().front();
             address.is_local) {
    local_.insert(host);
    on_address_(address);
  } else {
    others_.emplace(
        host,
        Error{ErrorCode::kInvalidArgument,
              "host " + host + " (" + address.address + ") is not this machine"}
            .WithHint("this hvdrun starts workers on this machine only"));
  }
  ended_.push_back(host);
  if (ended_.size() < lookups_.size()) return;
  // From the loop: a lookup does not outlive its own handler, and a handler of
  // ours may destroy this.
  next_ = loop_.After(Duration{0}, [this] {
    for (const std::string& ended : std::exchange(ended_, {})) {
      lookups_.erase(ended);
    }
    if (lookups_.empty()) PassOn();
  });
}

void LocalHostsOnly::PassOn() {
  HostList local;
  for (const HostSlots& host : newest_) {
    if (local_.contains(host.host)) {
      local.push_back(host);
      continue;
    }
    const auto why = others_.find(host.host);
    if (why == others_.end()) continue;
    // The first list may have been replaced while its names were looked up.
    if (!passed_ && first_.contains(host.host)) {
      return handlers_.on_failed(why->second);
    }
    handlers_.on_warning(why->second.message() + ": left out");
  }
  if (passed_ == local) return;
  passed_ = local;
  handlers_.on_hosts(std::move(local));
}

}  // namespace hvd
