#include "collectives/topology.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "collectives/link_plan.h"

namespace hvd {
namespace {

Topology Of(const std::string& hosts, int rank) {
  Membership membership;
  membership.rank = rank;
  for (const char host : hosts) {
    membership.endpoints.push_back({"", 0, "", std::string(1, host)});
  }
  return TopologyOf(membership);
}

using LinkKey = std::tuple<LinkPurpose, int, int, bool>;

std::multiset<LinkKey> Keys(const std::vector<LinkWanted>& wanted) {
  std::multiset<LinkKey> keys;
  for (const LinkWanted& w : wanted) {
    keys.insert({w.purpose, w.identity.from, w.identity.to, w.same_host});
  }
  return keys;
}

}  // namespace

TEST_CASE("Ranks are grouped by host, hosts ordered by their first rank",
          "[collectives]") {
  const Topology topology = Of("babca", 4);
  CHECK(topology.hosts == std::vector<std::vector<int>>{{0, 2}, {1, 4}, {3}});
  CHECK(topology.host == 1);
  CHECK(topology.local == 1);
  CHECK(topology.rails() == 1);
  CHECK(Of("aabb", 1).rails() == 2);
  CHECK(Of("aabb", 1).OnRail(1) == 3);
  CHECK(Of("aabbcc", 1).OnRail(-1) == 5);
}

TEST_CASE("What one rank dials another accepts, for every layout of hosts",
          "[collectives]") {
  for (const std::string hosts :
       {"aa", "ab", "aaaa", "abcd", "aabb", "abab", "aaab", "aabcc", "abcdefg",
        "aaabcbbd", "abcdefghijklm"}) {
    std::multiset<LinkKey> dialled;
    std::multiset<LinkKey> accepted;
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
      const LinkPlan plan = PlanLinks(Of(hosts, rank), 1);
      dialled.merge(Keys(plan.dialled));
      accepted.merge(Keys(plan.accepted));
    }
    INFO(hosts);
    CHECK(dialled == accepted);
  }
}

TEST_CASE("Doubling brings every host's part to every host once",
          "[collectives]") {
  for (int hosts = 1; hosts <= 20; ++hosts) {
    std::vector<DoublingPlan> plans;
    std::vector<std::multiset<int>> has;
    for (int host = 0; host < hosts; ++host) {
      plans.push_back(PlanDoubling(hosts, host));
      has.push_back({host});
    }
    const auto at = [](auto& list, int host) -> auto& {
      return list[static_cast<std::size_t>(host)];
    };
    std::size_t rounds = 0;
    for (int host = 0; host < hosts; ++host) {
      const DoublingPlan& plan = at(plans, host);
      rounds = std::max(rounds, plan.partners.size());
      if (!plan.gives_to) continue;
      CHECK(at(plans, *plan.gives_to).takes_from == host);
      at(has, *plan.gives_to).insert(host);
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      const auto before = has;
      for (int host = 0; host < hosts; ++host) {
        const DoublingPlan& plan = at(plans, host);
        if (plan.gives_to) continue;
        const int partner = plan.partners[round];
        CHECK(at(plans, partner).partners[round] == host);
        const auto& theirs = before[static_cast<std::size_t>(partner)];
        at(has, host).insert(theirs.begin(), theirs.end());
      }
    }
    for (int host = 0; host < hosts; ++host) {
      if (at(plans, host).gives_to) continue;
      CHECK(at(has, host).size() == static_cast<std::size_t>(hosts));
      CHECK(std::set<int>(at(has, host).begin(), at(has, host).end()).size() ==
            static_cast<std::size_t>(hosts));
    }
  }
}

}  // namespace hvd
