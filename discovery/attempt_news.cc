#include "discovery/attempt_news.h"

#include <utility>

#include "base/overloaded.h"

namespace hvd {

Attempt ParseAttempt(const std::string& text, const std::string& name,
                     int default_slots) {
  Result<HostList> hosts = ParseHostfile(text, name, default_slots);
  if (hosts.ok()) return std::move(hosts).value();
  return DiscoveryFailure{FailureKind::kBadLine, std::move(hosts).error()};
}

AttemptNews::AttemptNews(std::string name, DiscoveryHandlers handlers)
    : name_(std::move(name)),
      handlers_(
          std::make_shared<const DiscoveryHandlers>(std::move(handlers))) {}

AttemptNews::Next AttemptNews::Tell(const Attempt& attempt) {
  if (failed_) return Next::kOver;
  return std::visit(
      Overloaded{[this](const HostList& hosts) { return TellHosts(hosts); },
                 [this](const DiscoveryFailure& failure) {
                   return TellFailure(failure);
                 }},
      attempt);
}

AttemptNews::Next AttemptNews::TellHosts(const HostList& hosts) {
  const bool recovered = std::exchange(last_kind_, std::nullopt).has_value();
  const bool differs = hosts_ != hosts;
  hosts_ = hosts;
  if (recovered && Warn(name_ + " works again") == Next::kOver) {
    return Next::kOver;
  }
  if (!differs || !handlers_->on_hosts) return Next::kGoOn;
  const auto handlers = handlers_;
  handlers->on_hosts(hosts);
  return handlers.use_count() > 1 ? Next::kGoOn : Next::kOver;
}

AttemptNews::Next AttemptNews::TellFailure(const DiscoveryFailure& failure) {
  if (!hosts_) {
    failed_ = true;
    const auto handlers = handlers_;
    if (handlers->on_failed) handlers->on_failed(failure.error);
    return Next::kOver;
  }
  if (last_kind_ == failure.kind) return Next::kGoOn;
  last_kind_ = failure.kind;
  return Warn(failure.error.message() + "; the last list of hosts stays");
}

AttemptNews::Next AttemptNews::Warn(const std::string& line) {
  const auto handlers = handlers_;
  if (handlers->on_warning) handlers->on_warning(line);
  return handlers.use_count() > 1 ? Next::kGoOn : Next::kOver;
}

}  // namespace hvd
