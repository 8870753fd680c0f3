#include "collectives/make_communicator.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/group_setup.h"
#include "collectives/link_plan.h"
#include "collectives/quiet_thread.h"
#include "collectives/ring_schedule.h"
#include "collectives/shm_channel.h"
#include "collectives/solo_communicator.h"
#include "collectives/tcp_channel.h"
#include "collectives/wait_policy.h"
#include "collectives/world_communicator.h"

namespace hvd {
namespace {

const Endpoint& EndpointOf(const Membership& membership, int rank) {
  return membership.endpoints[static_cast<std::size_t>(rank)];
}

// All of a rank's links, with what each was for.
class Connector {
 public:
  Connector(const Membership& membership, std::string_view key,
            const RingListener& listener, const RingOptions& options)
      : membership_(membership),
        listener_(listener),
        options_(options),
        terms_{key, options.deadline, options.cancel_fd},
        topology_(TopologyOf(membership)),
        plan_(PlanLinks(topology_,
                        static_cast<std::uint64_t>(membership.world.epoch))) {}

  Result<std::unique_ptr<Communicator>> Run() {
    if (Status s = AddDescriptors(); !s.ok()) return std::move(s).error();
    if (Status s = Connect(); !s.ok()) return std::move(s).error();
    WorldCommunicator::Parts parts{.topology = topology_,
                                   .table = options_.table,
                                   .timeout = options_.collective_timeout,
                                   .doorbell = Doorbell(),
                                   .left = {},
                                   .right = {},
                                   .group = std::nullopt,
                                   .ring = std::nullopt,
                                   .rail = std::nullopt,
                                   .doubling = std::nullopt};
    if (Status s = AddGroup(parts); !s.ok()) return std::move(s).error();
    if (topology_.host_count() > 1) {
      if (Status s = AddRing(parts); !s.ok()) return std::move(s).error();
      AddBetweenHosts(parts);
    }
    parts.left = NeighbourOver(Accepted(LinkPurpose::kControl));
    parts.right = NeighbourOver(Dialled(LinkPurpose::kControl));
    parts.doorbell = std::move(doorbell_);
    return std::unique_ptr<Communicator>(
        std::make_unique<WorldCommunicator>(std::move(parts)));
  }

 private:
  // What goes along with links within the host: with a neighbour's, the shared
  // ring for arrays and its doorbell; with that to the host's first rank, the
  // heap.
  Status AddDescriptors() {
    const bool arrays = topology_.host_count() > 1;
    for (LinkWanted& wanted : plan_.accepted) {
      if (wanted.purpose == LinkPurpose::kControl && wanted.same_host &&
          arrays) {
        wanted.fds = {doorbell_.fd()};
      }
    }
    for (LinkWanted& wanted : plan_.dialled) {
      if (wanted.purpose == LinkPurpose::kGroup && options_.heap != nullptr) {
        wanted.fds = {options_.heap->fd()};
      }
      if (wanted.purpose != LinkPurpose::kControl || !wanted.same_host ||
          !arrays) {
        continue;
      }
      Result<UniqueFd> memory = CreateShmRing();
      if (!memory.ok()) return std::move(memory).error();
      ring_memory_ = std::move(memory).value();
      wanted.fds = {ring_memory_.get(), doorbell_.fd()};
    }
    return Done{};
  }

  // Each rank dials and is dialled at once; one after the other would deadlock.
  Status Connect() {
    std::optional<Result<std::vector<Link>>> accepted;
    std::thread accept = StartQuietThread("hvd-accept", [&] {
      accepted = AcceptLinks(listener_, plan_.accepted, terms_);
    });
    std::optional<Error> failed;
    for (const LinkWanted& wanted : plan_.dialled) {
      Result<Link> link =
          DialLink(EndpointOf(membership_, wanted.identity.to), wanted, terms_);
      if (!link.ok()) {
        failed = std::move(link).error();
        break;
      }
      dialled_.push_back(std::move(link).value());
    }
    accept.join();
    if (failed) return *std::move(failed);
    if (!accepted->ok()) return std::move(*accepted).error();
    accepted_ = std::move(*accepted).value();
    return Done{};
  }

  // The first link of that purpose; its socket is taken by the caller.
  Link* Accepted(LinkPurpose purpose) {
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (plan_.accepted[i].purpose == purpose) return &accepted_[i];
    }
    return nullptr;
  }
  Link* Dialled(LinkPurpose purpose) {
    for (std::size_t i = 0; i < dialled_.size(); ++i) {
      if (plan_.dialled[i].purpose == purpose) return &dialled_[i];
    }
    return nullptr;
  }

  static Neighbour NeighbourOver(Link* link) {
    UniqueFd pidfd = PeerPidfd(link->socket.get());
    return {std::move(link->socket), std::move(pidfd)};
  }

  Status AddGroup(WorldCommunicator::Parts& parts) {
    if (topology_.local_size() == 1) return Done{};
    Result<SharedGroup> group = FormGroup();
    if (!group.ok()) return std::move(group).error();
    parts.group = WorldCommunicator::Group{
        std::move(group.value().segment), std::move(group.value().heaps),
        ChooseSpin(RanksHere(), UsableCores())};
    return Done{};
  }

  Result<SharedGroup> FormGroup() {
    if (topology_.local > 0) {
      return ReceiveGroup(std::move(*Dialled(LinkPurpose::kGroup)), topology_,
                          options_.table, options_.heap, terms_);
    }
    std::vector<Link> mates;
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (plan_.accepted[i].purpose == LinkPurpose::kGroup) {
        mates.push_back(std::move(accepted_[i]));
      }
    }
    return HandOutGroup(std::move(mates), options_.table, options_.heap,
                        terms_);
  }

  // Hosts by name may be one machine: its cores are what counts.
  int RanksHere() const {
    const auto machine = [](const std::string& host_key) {
      return host_key.substr(std::min(host_key.find('/'), host_key.size()));
    };
    const std::string here =
        machine(EndpointOf(membership_, topology_.rank).host_key);
    return static_cast<int>(std::count_if(
        membership_.endpoints.begin(), membership_.endpoints.end(),
        [&](const Endpoint& e) { return machine(e.host_key) == here; }));
  }

  WaitPolicy RingWait() const { return ChooseWait(RanksHere(), UsableCores()); }

  Status AddRing(WorldCommunicator::Parts& parts) {
    RingRunner::Parts ring{LeftOf(topology_.rank, topology_.size),
                           RightOf(topology_.rank, topology_.size), nullptr,
                           nullptr, RingWait()};
    if (Link* const data = Accepted(LinkPurpose::kData)) {
      ring.from_left = MakeTcpReceiver(std::move(data->socket));
    } else {
      std::vector<UniqueFd>& fds = Accepted(LinkPurpose::kControl)->fds;
      if (fds.size() != 2) return NotAsAgreed();
      Result<std::unique_ptr<ReceiveChannel>> receiver =
          OpenShmReceiver(fds[0], Doorbell(std::move(fds[1])));
      if (!receiver.ok()) return std::move(receiver).error();
      ring.from_left = std::move(receiver).value();
    }
    if (Link* const data = Dialled(LinkPurpose::kData)) {
      ring.to_right = MakeTcpSender(std::move(data->socket));
    } else {
      std::vector<UniqueFd>& fds = Dialled(LinkPurpose::kControl)->fds;
      if (fds.size() != 1) return NotAsAgreed();
      Result<std::unique_ptr<SendChannel>> sender =
          OpenShmSender(ring_memory_, Doorbell(std::move(fds[0])));
      if (!sender.ok()) return std::move(sender).error();
      ring.to_right = std::move(sender).value();
    }
    parts.ring = std::move(ring);
    return Done{};
  }

  static Error NotAsAgreed() {
    return {ErrorCode::kUnavailable, "a ring neighbour sent no shared ring"};
  }

  void AddBetweenHosts(WorldCommunicator::Parts& parts) {
    if (OnSomeRail(topology_)) {
      parts.rail = RingRunner::Parts{
          topology_.OnRail(-1), topology_.OnRail(1),
          MakeTcpReceiver(std::move(Accepted(LinkPurpose::kRail)->socket)),
          MakeTcpSender(std::move(Dialled(LinkPurpose::kRail)->socket)),
          RingWait()};
    }
    if (topology_.local > 0) return;
    Doubling::Parts doubling{
        PlanDoubling(topology_.host_count(), topology_.host),
        {},
        {},
        RingWait()};
    for (const std::vector<int>& ranks : topology_.hosts) {
      doubling.speakers.push_back(ranks.front());
    }
    const auto add = [&](int rank, Link& link) {
      const auto& speakers = doubling.speakers;
      const auto host =
          std::find(speakers.begin(), speakers.end(), rank) - speakers.begin();
      doubling.sockets[static_cast<int>(host)] = std::move(link.socket);
    };
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (plan_.accepted[i].purpose != LinkPurpose::kPartner) continue;
      add(plan_.accepted[i].identity.from, accepted_[i]);
    }
    for (std::size_t i = 0; i < dialled_.size(); ++i) {
      if (plan_.dialled[i].purpose != LinkPurpose::kPartner) continue;
      add(plan_.dialled[i].identity.to, dialled_[i]);
    }
    parts.doubling = std::move(doubling);
  }

  const Membership& membership_;
  const RingListener& listener_;
  const RingOptions& options_;
  const LinkTerms terms_;
  const Topology topology_;
  LinkPlan plan_;
  Doorbell doorbell_;
  UniqueFd ring_memory_;
  std::vector<Link> accepted_;
  std::vector<Link> dialled_;
};

}  // namespace

Result<std::unique_ptr<Communicator>> MakeCommunicator(
    const Membership& membership, std::string_view key,
    const RingListener& listener, const RingOptions& options) {
  if (membership.endpoints.size() == 1) {
    return std::unique_ptr<Communicator>(std::make_unique<SoloCommunicator>());
  }
  return Connector(membership, key, listener, options).Run();
}

}  // namespace hvd
