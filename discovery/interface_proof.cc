#include "discovery/interface_proof.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "discovery/probe_plan.h"

namespace hvd {
namespace {

bool SameRankAsFirst(const std::vector<Candidate>& candidates,
                     const Candidate& candidate) {
  return candidate.rank == candidates.front().rank;
}

// What has no way there is told so at once; who waits for its answer isn't. So
// the first knows the direction that fails.
bool OnlyTimedOut(const std::string& complaint) {
  return complaint.find(": timed out ") != std::string::npos;
}

std::string InTheWay() {
  return "a firewall or a missing route between hosts; docs/hosts.md says what "
         "must be open";
}

}  // namespace

InterfaceProof::InterfaceProof(std::vector<std::string> only)
    : only_(std::move(only)) {}

void InterfaceProof::AddHost(HostInterfaces host) {
  RemoveHost(host.host);
  Host& added = hosts_.emplace_back();
  added.id = ++last_id_;
  added.info = std::move(host);
}

void InterfaceProof::RemoveHost(const std::string& host) {
  const Host* gone = Find(host);
  if (gone == nullptr) return;
  const std::uint64_t id = gone->id;
  for (auto link = results_.begin(); link != results_.end();) {
    const auto& [from, to, address] = link->first;
    if (from != id && to != id) {
      ++link;
      continue;
    }
    if (!link->second) --pending_;
    link = results_.erase(link);
  }
  std::erase_if(to_take_, [&](const HostProbe& probe) {
    return probe.from == host || probe.to == host;
  });
  std::erase_if(hosts_, [&](const Host& h) { return h.id == id; });
  if (pending_ == 0) Advance();
}

std::vector<HostProbe> InterfaceProof::TakeProbes() {
  while (pending_ == 0 && TakeBatch()) Advance();
  return std::exchange(to_take_, {});
}

void InterfaceProof::OnResult(const HostProbe& probe,
                              const ProbeResult& result) {
  const Host* from = Find(probe.from);
  const Host* to = Find(probe.to);
  if (from == nullptr || to == nullptr ||
      to->info.identity != probe.target.identity ||
      to->info.probe_port != probe.target.port) {
    return;
  }
  const auto found = results_.find({from->id, to->id, probe.target.address});
  if (found == results_.end() || found->second) return;
  found->second = result;
  if (--pending_ == 0) Advance();
}

const HostProof& InterfaceProof::Of(const std::string& host) const {
  const Host* found = Find(host);
  HVD_CHECK(found != nullptr);
  return found->proof;
}

std::vector<std::string> InterfaceProof::hosts() const {
  std::vector<std::string> names;
  for (const Host& host : hosts_) names.push_back(host.info.host);
  return names;
}

std::string InterfaceProof::Describe(const std::string& name) const {
  const Host* host = Find(name);
  HVD_CHECK(host != nullptr);
  const HostProof& proof = host->proof;
  if (proof.error) return proof.error->message();
  if (proof.state == ProofState::kOpen) return "host " + name + ": still open";
  std::string text = "host " + name + ": " + proof.place.interface_name + ' ' +
                     proof.place.address;
  std::string separator = "; not used: ";
  for (const Candidate& candidate : host->candidates) {
    if (candidate.place == proof.place) continue;
    std::string why = "not needed";
    for (const Host& from : hosts_) {
      const ProbeResult* result =
          ResultOf(from, *host, candidate.place.address);
      if (result == nullptr || result->proved()) continue;
      why = from.info.host + ": " +
            OutcomeText(*result, HostOf(result->answered_as));
      break;
    }
    text += std::exchange(separator, ", ") + candidate.place.interface_name +
            ' ' + candidate.place.address + " (" + why + ')';
  }
  return text;
}

bool InterfaceProof::TakeBatch() {
  bool any = false;
  for (Host& host : hosts_) {
    if (host.stage != Stage::kWaiting) continue;
    host.stage = Stage::kBatch;
    any = true;
  }
  return any;
}

// Nothing is pending. Ends when something is asked for, or all is settled.
void InterfaceProof::Advance() {
  for (;;) {
    const std::vector<std::size_t> live = Live();
    if (!SeveralMachines(live)) return PlaceAlone(live);
    if (!ListCandidates(live)) continue;
    const Askers askers = AskersOf(live);
    std::vector<Broken> broken;
    for (const auto& [to, from] : askers) {
      const std::vector<Broken> pairs = AskOrBlame(to, from);
      broken.insert(broken.end(), pairs.begin(), pairs.end());
    }
    if (pending_ > 0) return;
    if (broken.empty()) return Settle(askers);
    FailOne(broken);
  }
}

std::vector<std::size_t> InterfaceProof::Live() const {
  std::vector<std::size_t> live;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const Stage stage = hosts_[i].stage;
    if (stage == Stage::kBatch || stage == Stage::kSettled) live.push_back(i);
  }
  return live;
}

bool InterfaceProof::SeveralMachines(
    const std::vector<std::size_t>& live) const {
  return std::any_of(live.begin(), live.end(), [&](std::size_t i) {
    return hosts_[i].info.identity != hosts_[live.front()].info.identity;
  });
}

void InterfaceProof::PlaceAlone(const std::vector<std::size_t>& live) {
  for (const std::size_t i : live) {
    Host& host = hosts_[i];
    if (host.stage == Stage::kSettled) continue;
    Result<HostPlace> place = PlaceOfMachineAlone(host.info, only_);
    if (!place.ok()) {
      Fail(host, std::move(place).error());
      continue;
    }
    host.stage = Stage::kSettled;
    host.proof = {ProofState::kProved, std::move(place).value(), {}, {}};
  }
}

bool InterfaceProof::ListCandidates(const std::vector<std::size_t>& live) {
  std::vector<std::string> written;
  for (const std::size_t i : live) {
    const auto& preferred = hosts_[i].info.preferred;
    written.insert(written.end(), preferred.begin(), preferred.end());
  }
  bool all = true;
  for (const std::size_t i : live) {
    Host& host = hosts_[i];
    if (host.candidates.empty() && !host.no_candidate) {
      auto listed = CandidatesOf(host.info, written, only_);
      if (listed.ok()) {
        host.candidates = std::move(listed).value();
      } else {
        host.no_candidate = std::move(listed).error();
      }
    }
    // One that was settled alone stays for those of its own machine.
    if (host.no_candidate && host.stage == Stage::kBatch) {
      Fail(host, *host.no_candidate);
      all = false;
    }
  }
  return all;
}

InterfaceProof::Askers InterfaceProof::AskersOf(
    const std::vector<std::size_t>& live) const {
  Askers askers;
  for (const std::size_t i : live) askers[i];
  for (const auto& [a, b] : PlanProbes(live.size())) {
    const std::size_t from = live[a];
    const std::size_t to = live[b];
    if (hosts_[from].info.identity == hosts_[to].info.identity) continue;
    askers[to].push_back(from);
  }
  return askers;
}

std::vector<InterfaceProof::Broken> InterfaceProof::AskOrBlame(
    std::size_t to, const std::vector<std::size_t>& askers) {
  const Host& host = hosts_[to];
  if (askers.empty() || Serving(host, askers) != nullptr) return {};
  const std::vector<Candidate>& all = host.candidates;
  if (!all.empty()) {
    const bool chosen = host.proof.place == all.front().place;
    const auto first = std::count_if(
        all.begin(), all.end(),
        [&](const Candidate& c) { return SameRankAsFirst(all, c); });
    const auto likeliest = chosen ? 1 : static_cast<std::size_t>(first);
    if (Ask(host, askers, likeliest)) return {};
    if (Ask(host, askers, all.size())) return {};
  }
  return BrokenPairs(to, askers);
}

const Candidate* InterfaceProof::Serving(
    const Host& to, const std::vector<std::size_t>& askers) const {
  for (const Candidate& candidate : to.candidates) {
    const bool serves =
        std::all_of(askers.begin(), askers.end(), [&](std::size_t from) {
          return Reached(from, to, candidate.place.address);
        });
    if (serves) return &candidate;
  }
  return nullptr;
}

bool InterfaceProof::Ask(const Host& to, const std::vector<std::size_t>& askers,
                         std::size_t count) {
  bool missing = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& address = to.candidates[i].place.address;
    for (const std::size_t from : askers) {
      const Host& asker = hosts_[from];
      const bool is_new =
          results_.try_emplace({asker.id, to.id, address}).second;
      if (!is_new) continue;
      missing = true;
      ++pending_;
      to_take_.push_back({asker.info.host,
                          to.info.host,
                          {address, to.info.probe_port, to.info.identity}});
    }
  }
  return missing;
}

// Every candidate has been tried from everywhere, and none serves all.
std::vector<InterfaceProof::Broken> InterfaceProof::BrokenPairs(
    std::size_t to, const std::vector<std::size_t>& askers) const {
  const Host& host = hosts_[to];
  const bool settled = host.stage == Stage::kSettled &&
                       !host.candidates.empty() &&
                       host.proof.place == host.candidates.front().place;
  const auto reaches = [&](std::size_t from) {
    if (settled) return Reached(from, host, host.proof.place.address);
    return std::any_of(host.candidates.begin(), host.candidates.end(),
                       [&](const Candidate& c) {
                         return Reached(from, host, c.place.address);
                       });
  };
  std::vector<Broken> pairs;
  for (const std::size_t from : askers) {
    if (!reaches(from)) pairs.push_back({from, to});
  }
  if (pairs.empty()) pairs.push_back({to, to});
  return pairs;
}

void InterfaceProof::Settle(const Askers& askers) {
  for (const auto& [to, from] : askers) {
    Host& host = hosts_[to];
    const Candidate* serving = Serving(host, from);
    if (serving == nullptr && from.empty()) continue;  // stays where it is
    HVD_CHECK(serving != nullptr);
    const auto chosen =
        host.candidates.begin() + (serving - host.candidates.data());
    // First, so that it stays for as long as it serves.
    std::rotate(host.candidates.begin(), chosen, chosen + 1);
    host.stage = Stage::kSettled;
    host.proof = {ProofState::kProved, host.candidates.front().place, {}, {}};
  }
}

void InterfaceProof::FailOne(const std::vector<Broken>& broken) {
  std::map<std::size_t, int> complaints;
  for (const Broken& pair : broken) {
    ++complaints[pair.from];
    if (pair.to != pair.from) ++complaints[pair.to];
  }
  const auto is_new = [&](const auto& entry) {
    return hosts_[entry.first].stage == Stage::kBatch;
  };
  if (std::any_of(complaints.begin(), complaints.end(), is_new)) {
    std::erase_if(complaints,
                  [&](const auto& entry) { return !is_new(entry); });
  }
  std::size_t worst = complaints.begin()->first;
  for (const auto& [host, count] : complaints) {
    if (count >= complaints[worst]) worst = host;
  }
  std::string message;
  bool telling = false;
  std::vector<ReachRow> rows;
  for (const Broken& pair : broken) {
    if (pair.from != worst && pair.to != worst) continue;
    const std::string complaint = Complaint(pair);
    if (message.empty() || (!telling && !OnlyTimedOut(complaint))) {
      message = complaint;
      telling = !OnlyTimedOut(complaint);
    }
    const std::vector<ReachRow> more = RowsOf(pair);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  Fail(hosts_[worst],
       Error(ErrorCode::kUnavailable, message).WithHint(InTheWay()), rows);
}

void InterfaceProof::Fail(Host& host, Error error,
                          const std::vector<ReachRow>& rows) {
  host.stage = Stage::kFailed;
  host.proof = {ProofState::kFailed, {}, std::move(error), {}};
  if (!rows.empty()) host.proof.table = FormatReachTable(rows, kMaxTableRows);
}

std::string InterfaceProof::Complaint(const Broken& pair) const {
  const Host& to = hosts_[pair.to];
  if (pair.from == pair.to) {
    return "host " + to.info.host + " has no address that all others reach";
  }
  std::string text = "host " + hosts_[pair.from].info.host +
                     " cannot reach host " + to.info.host;
  if (to.no_candidate) return text + ": " + to.no_candidate->message();
  const ReachRow first = RowsOf(pair).front();
  return text + " at " + first.address + ": " + first.outcome;
}

std::vector<ReachRow> InterfaceProof::RowsOf(const Broken& pair) const {
  const Host& to = hosts_[pair.to];
  std::vector<ReachRow> rows;
  for (const Host& from : hosts_) {
    const bool asked = pair.from == pair.to || from.id == hosts_[pair.from].id;
    if (!asked) continue;
    for (const Candidate& candidate : to.candidates) {
      const std::string& address = candidate.place.address;
      const ProbeResult* result = ResultOf(from, to, address);
      if (result == nullptr) continue;
      rows.push_back({from.info.host, to.info.host, address,
                      OutcomeText(*result, HostOf(result->answered_as))});
    }
  }
  return rows;
}

bool InterfaceProof::Reached(std::size_t from, const Host& to,
                             const std::string& address) const {
  const ProbeResult* result = ResultOf(hosts_[from], to, address);
  return result != nullptr && result->proved();
}

const ProbeResult* InterfaceProof::ResultOf(const Host& from, const Host& to,
                                            const std::string& address) const {
  const auto found = results_.find({from.id, to.id, address});
  if (found == results_.end() || !found->second) return nullptr;
  return &*found->second;
}

std::string InterfaceProof::HostOf(const std::string& identity) const {
  for (const Host& host : hosts_) {
    if (host.info.identity == identity) return host.info.host;
  }
  return "";
}

const InterfaceProof::Host* InterfaceProof::Find(
    const std::string& host) const {
  for (const Host& h : hosts_) {
    if (h.info.host == host) return &h;
  }
  return nullptr;
}

}  // namespace hvd
