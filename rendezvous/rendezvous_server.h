// RendezvousServer: the HTTP server where workers learn their world.
//
// Doors on one port, at one address or several. /v1/… is ours: JSON, epochs,
// long polls, every request and answer signed with the job's key.
// /<scope>/<key> is Horovod's key-value store, whose clients cannot sign:
// served to loopback peers of this user only. PUT /v1/hosts is for scripts on
// this host that hold a token of their own. It decides nothing: what arrives
// becomes an event, what is published is served.
//
// Loop thread only; handlers are called on it, never from inside a call here.
// Source of the second door: horovod/runner/http/http_server.py (0.28.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "base/port_range.h"
#include "base/result.h"
#include "rendezvous/horovod_board.h"
#include "rendezvous/http_limits.h"
#include "rendezvous/notice_board.h"
#include "rendezvous/world.h"

namespace hvd {

// Opens PUT /v1/hosts.
struct HostsPush {
  std::string token;         // printable; all that is asked for, and only there
  std::size_t max_body = 0;  // bytes
};

struct RendezvousOptions {
  std::string bind_address = "127.0.0.1";
  PortRange ports = {};  // of every address
  std::string job_key;   // raw bytes
  std::optional<HostsPush> push = {};
  bool elastic = false;  // the store is that of elastic Horovod jobs
  HttpLimits limits;
};

// All must be set, on_hosts only with RendezvousOptions::push, on_misplaced
// only with RendezvousOptions::elastic. They may call Publish and Notify, but
// not destroy the server.
struct RendezvousHandlers {
  // A worker asked for a world newer than `after` for the first time; again
  // when it was started again.
  std::function<void(const WorkerId&, Epoch after)> on_ready;
  // The worker waits for news of world `epoch`, of which it has begun that many
  // collectives: it is there, and says so at least every kLongPoll. Unchecked.
  std::function<void(const WorkerId&, Epoch epoch, std::uint64_t operations)>
      on_heard;
  // The worker's collectives of world `epoch` ended because that rank has left
  // it or died. It is said before the worker's program learns of it. Unchecked:
  // there may be no such world or rank.
  std::function<void(const WorkerId&, Epoch epoch, int rank)> on_blame;
  std::function<void(const WorkerId&, std::string text)> on_log;
  std::function<void(const WorkerId&, std::string bytes)> on_result;
  // One line per kind of refusal and peer: who, what, why.
  std::function<void(std::string line)> on_refused;
  // Somebody says that these are all hosts there are now. An error's message,
  // one line, is the answer: 400 for kInvalidArgument, else 503.
  std::function<Status(const std::string& text)> on_hosts = {};
  // Only with RendezvousOptions::elastic. The worker can take part in no world
  // but the one that it was started for, which will not be.
  std::function<void(const WorkerId&)> on_misplaced = {};
};

class RendezvousServer {
 public:
  // kUnavailable: the address cannot be bound.
  static Result<std::unique_ptr<RendezvousServer>> Listen(
      EventLoop& loop, const RendezvousOptions& options,
      RendezvousHandlers handlers);
  virtual ~RendezvousServer() = default;

  // At the address that it was made with.
  virtual std::uint16_t port() const = 0;
  // Listens there as well, on the same port if it is free there, and tells
  // which; an address that it listens on already keeps its port.
  // kInvalidArgument: not an address; kUnavailable: it cannot be bound.
  virtual Result<std::uint16_t> AddAddress(const std::string& address) = 0;

  // From now on only this launch of the worker, and later ones, are wanted. An
  // earlier one, whose host was given up, may live on somewhere.
  virtual void Replace(const WorkerId& worker, LaunchId launch) = 0;
  // From now on the ring listeners of that host's workers are wanted there. One
  // that asks for its next world with another address is told to move.
  virtual void SetRingAddress(const std::string& host,
                              const std::string& address) = 0;
  // These processes are being started, and see that world in their
  // environments.
  virtual void Started(const StartedWorkers& started) = 0;
  // A process that was started is gone.
  virtual void Ended(const WorkerId& worker) = 0;
  // From now on this is the world; its epoch must be greater than the last.
  virtual void Publish(const World& world) = 0;
  // Tells the members of `epoch`, which was published, that a rank is lost
  // (their collectives end), or, without one, that the hosts have changed (they
  // leave together at their next commit). Of each kind the first notice of an
  // epoch counts; a loss is told after a change too. Publish tells the members
  // of older worlds that they were replaced. A rank below 0 is none.
  virtual void Notify(Epoch epoch, WorldNotice notice) = 0;
};

}  // namespace hvd
