#include "discovery/pushed_hosts.h"

#include <utility>

namespace hvd {

PushedHosts::PushedHosts(EventLoop& loop, std::unique_ptr<HostDiscovery> source,
                         int slots_per_host)
    : loop_(loop),
      slots_per_host_(slots_per_host),
      source_(std::move(source)) {}

void PushedHosts::Start(DiscoveryHandlers handlers) {
  handlers_ = std::move(handlers);
  source_->Start(
      {.on_hosts = [this](HostList hosts) { OnFound(std::move(hosts)); },
       .on_failed = handlers_.on_failed,
       .on_warning = handlers_.on_warning});
}

Status PushedHosts::Push(const std::string& text) {
  // What is left of a pipe whose first command failed, or of curl's file when
  // its name was wrong. Nobody means that all hosts are gone.
  if (text.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "pushed hosts: the list is empty; if there are no hosts now, "
                 "push a comment, \"# none\""};
  }
  Result<HostList> hosts = ParseHostfile(text, "pushed hosts", slots_per_host_);
  if (!hosts.ok()) return std::move(hosts).error();
  pushed_ = std::move(hosts).value();
  if (told_) next_ = loop_.After(Duration{0}, [this] { TellPushed(); });
  return Done{};
}

void PushedHosts::OnFound(HostList hosts) {
  if (told_) {
    pushed_.reset();  // older than this
  } else if (pushed_) {
    next_ = loop_.After(Duration{0}, [this] { TellPushed(); });
  }
  Tell(std::move(hosts));
}

void PushedHosts::TellPushed() {
  if (pushed_) Tell(*std::exchange(pushed_, std::nullopt));
}

void PushedHosts::Tell(HostList hosts) {
  if (told_ == hosts) return;
  told_ = hosts;
  // A copy: the handler may destroy this.
  const auto on_hosts = handlers_.on_hosts;
  on_hosts(std::move(hosts));
}

}  // namespace hvd
