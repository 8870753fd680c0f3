#include "collectives/link_plan.h"

#include <algorithm>

#include "collectives/ring_schedule.h"

namespace hvd {
namespace {

class Planner {
 public:
  Planner(const Topology& topology, std::uint64_t epoch)
      : topology_(topology), epoch_(epoch) {}

  LinkPlan Run() {
    AddRing(LinkPurpose::kControl, LeftOf(topology_.rank, topology_.size),
            RightOf(topology_.rank, topology_.size));
    AddGroup();
    if (topology_.host_count() == 1) return std::move(plan_);
    // Neighbours of one host send arrays through shared memory, for which the
    // control link does.
    const int left = LeftOf(topology_.rank, topology_.size);
    const int right = RightOf(topology_.rank, topology_.size);
    if (!IsMate(left)) Accept(LinkPurpose::kData, left);
    if (!IsMate(right)) Dial(LinkPurpose::kData, right);
    if (OnSomeRail(topology_)) {
      AddRing(LinkPurpose::kRail, topology_.OnRail(-1), topology_.OnRail(1));
    }
    if (topology_.local == 0) AddPartners();
    return std::move(plan_);
  }

 private:
  bool IsMate(int rank) const {
    const std::vector<int>& mates = topology_.mates();
    return std::find(mates.begin(), mates.end(), rank) != mates.end();
  }

  void Accept(LinkPurpose purpose, int from) {
    plan_.accepted.push_back({{epoch_, topology_.size, from, topology_.rank},
                              purpose,
                              IsMate(from),
                              {}});
  }
  void Dial(LinkPurpose purpose, int to) {
    plan_.dialled.push_back({{epoch_, topology_.size, topology_.rank, to},
                             purpose,
                             IsMate(to),
                             {}});
  }

  void AddRing(LinkPurpose purpose, int left, int right) {
    Accept(purpose, left);
    Dial(purpose, right);
  }

  void AddGroup() {
    const std::vector<int>& mates = topology_.mates();
    if (topology_.local > 0) return Dial(LinkPurpose::kGroup, mates.front());
    for (std::size_t i = 1; i < mates.size(); ++i) {
      Accept(LinkPurpose::kGroup, mates[i]);
    }
  }

  void AddPair(int host) {
    const int rank = topology_.hosts[static_cast<std::size_t>(host)].front();
    if (rank < topology_.rank) return Accept(LinkPurpose::kPartner, rank);
    Dial(LinkPurpose::kPartner, rank);
  }

  void AddPartners() {
    const DoublingPlan doubling =
        PlanDoubling(topology_.host_count(), topology_.host);
    if (doubling.gives_to) AddPair(*doubling.gives_to);
    if (doubling.takes_from) AddPair(*doubling.takes_from);
    for (const int partner : doubling.partners) AddPair(partner);
  }

  const Topology& topology_;
  std::uint64_t epoch_;
  LinkPlan plan_;
};

}  // namespace

LinkPlan PlanLinks(const Topology& topology, std::uint64_t epoch) {
  return Planner(topology, epoch).Run();
}

bool OnSomeRail(const Topology& topology) {
  const bool several = topology.size > topology.host_count();
  return several && topology.host_count() > 1 &&
         topology.local < topology.rails();
}

}  // namespace hvd
