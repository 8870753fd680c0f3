#include "discovery/proved_hosts.h"

#include <algorithm>
#include <utility>

namespace hvd {

ProvedHosts::ProvedHosts(EventLoop& loop, std::unique_ptr<HostDiscovery> source,
                         HostProver& prover, HostsNeeded needed,
                         LostHandler on_lost)
    : loop_(loop),
      prover_(prover),
      needed_(needed),
      on_lost_(std::move(on_lost)),
      source_(std::move(source)) {}

void ProvedHosts::Start(DiscoveryHandlers handlers) {
  handlers_ = std::move(handlers);
  prover_.Start(
      {.on_proved = [this](const std::string& host) { OnProved(host); },
       .on_failed = [this](const std::string& host,
                           const Error& error) { OnFailed(host, error); },
       .on_lost = [this](const std::string& host,
                         const Error& error) { OnLost(host, error); }});
  source_->Start(
      {.on_hosts = [this](HostList hosts) { OnHosts(std::move(hosts)); },
       .on_failed = handlers_.on_failed,
       .on_warning = handlers_.on_warning});
}

void ProvedHosts::OnHosts(HostList hosts) {
  listed_ = std::move(hosts);
  const auto forget = [this](auto& set, const auto& name) {
    for (auto next = set.begin(); next != set.end();) {
      next = IsListed(name(*next)) ? std::next(next) : set.erase(next);
    }
  };
  forget(proved_, [](const std::string& host) { return host; });
  forget(pending_, [](const auto& entry) { return entry.first; });
  WantListed();
  PassOn();
}

void ProvedHosts::OnProved(const std::string& host) {
  pending_.erase(host);
  proved_.insert(host);
  PassOn();
}

void ProvedHosts::OnFailed(const std::string& host, const Error& error) {
  if (needed_ == HostsNeeded::kAll) {
    if (handlers_.on_failed) handlers_.on_failed(error);
    return;
  }
  const bool first = !pending_.contains(host);
  TryLater(host);
  if (first && handlers_.on_warning) {
    handlers_.on_warning(error.message() +
                         "; the host is tried again while it is listed");
  }
}

void ProvedHosts::OnLost(const std::string& host, const Error& error) {
  // Nothing of a static job runs yet: it ends over a host it cannot have.
  if (needed_ == HostsNeeded::kAll && !passed_) {
    return OnFailed(host, Error(error).Wrap("host " + host));
  }
  proved_.erase(host);
  if (passed_) {
    std::erase_if(*passed_, [&](const HostSlots& h) { return h.host == host; });
  }
  if (needed_ == HostsNeeded::kAny && IsListed(host)) TryLater(host);
  on_lost_(host, error);
}

void ProvedHosts::TryLater(const std::string& host) {
  Pending& pending = pending_[host];
  pending.rests = true;
  pending.again = loop_.After(pending.pause, [this, host] {
    pending_.at(host).rests = false;
    WantListed();
  });
  pending.pause = std::min(2 * pending.pause, kLongestPause);
}

// Those that failed only when their pause is over.
void ProvedHosts::WantListed() {
  HostList wanted;
  for (const HostSlots& host : listed_) {
    const auto pending = pending_.find(host.host);
    if (pending == pending_.end() || !pending->second.rests) {
      wanted.push_back(host);
    }
  }
  prover_.Want(wanted);
}

void ProvedHosts::PassOn() {
  HostList usable;
  for (const HostSlots& host : listed_) {
    if (proved_.contains(host.host)) usable.push_back(host);
  }
  const bool too_few =
      needed_ == HostsNeeded::kAll && usable.size() < listed_.size();
  // Hosts that are all still on their way are no list yet: an empty one is
  // that of a source that has none.
  const bool nothing_yet = !passed_ && usable.empty() && !listed_.empty();
  if (too_few || nothing_yet || passed_ == usable) return;
  passed_ = usable;
  if (handlers_.on_hosts) handlers_.on_hosts(std::move(usable));
}

bool ProvedHosts::IsListed(const std::string& host) const {
  return std::any_of(listed_.begin(), listed_.end(),
                     [&](const HostSlots& h) { return h.host == host; });
}

}  // namespace hvd
