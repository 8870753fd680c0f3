// LocalHost: which of the named hosts are this machine, and at which address.
//
// "Local" means that an address of the name can be bound here: right for
// 127.0.0.2, ::1, aliases and containers, where comparing names is not.
// Names are looked up on a thread of their own, because a lookup may block far
// longer than any deadline; the thread is left behind when time is up.
//
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/result.h"

namespace hvd {

struct HostAddress {
  std::string host;     // as written
  std::string address;  // a literal: the first that can be bound here, else
                        // the first of all
  bool is_local = false;
  bool operator==(const HostAddress&) const = default;
};

// Without a lookup: an address literal, or "localhost". nullopt: needs one.
std::optional<HostAddress> AddressWithoutLookup(const std::string& host);

// Ends on destruction; the handler is not called afterwards.
class HostLookup {
 public:
  virtual ~HostLookup() = default;
};

// `done` is called once, on the loop, never from inside: an address for each
// host, in order, or the first error: kNotFound (or, from a name server
// in trouble, kUnavailable) names a host that nobody knows,
// kTimeout the hosts that were not found out within `limit`.
using AddressHandler = std::function<void(Result<std::vector<HostAddress>>)>;
[[nodiscard]] std::unique_ptr<HostLookup> LookUpHosts(
    EventLoop& loop, std::vector<std::string> hosts, Duration limit,
    AddressHandler done);

}  // namespace hvd
