#include "cmd/hosts_check.h"

#include <algorithm>
#include <utility>

#include "base/seconds.h"
#include "cmd/machine_network.h"
#include "discovery/link_plan.h"

namespace hvd {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

std::int64_t UnixUs() {
  return duration_cast<microseconds>(WallNow().time_since_epoch()).count();
}

LinkResult Failed(std::string why) {
  LinkResult result;
  result.failure = std::move(why);
  return result;
}

// What somebody else's program did meanwhile makes a link slower, never faster.
bool IsBetter(const LinkResult& now, const LinkResult& before) {
  return RateOf(now).value_or(0) > RateOf(before).value_or(0);
}

}  // namespace

HostsCheck::HostsCheck(EventLoop& loop, WatchedProver& prover,
                       const JobEnv& env, const Options& options)
    : loop_(loop), prover_(prover), env_(env), options_(options) {
  for (const HostSlots& host : options_.hosts) {
    places_[host.host] = hosts_.size();
    hosts_.emplace_back().facts = {.host = host.host, .slots = host.slots};
  }
}

void HostsCheck::Start(std::function<void()> on_done) {
  on_done_ = std::move(on_done);
  prover_.Watch(
      {.on_host = [this](const HostInterfaces& machine,
                         const AgentAbout* about) { OnHost(machine, about); },
       .on_probe =
           [this](const HostProbe& probe, const ProbeResult& result) {
             probes_.push_back({probe, result});
           },
       .on_time = [this](const std::string& host,
                         const AgentTime& time) { OnTime(host, time); },
       .on_measured =
           [this](const std::string& host, const AgentMeasured& measured) {
             OnMeasured(host, measured);
           }});
  prover_.Start(
      {.on_proved =
           [this](const std::string& host) {
             Named(host).proved = true;
             GoOnIfAllAreKnown();
           },
       .on_failed = [this](const std::string& host,
                           Error error) { OnFailed(host, std::move(error)); },
       .on_lost =
           [this](const std::string& host, Error error) {
             OnFailed(host, std::move(error).Wrap("host " + host));
           }});
  const Duration limit = options_.start_timeout + kProofLimit;
  limit_ = loop_.After(limit, [this, limit] { GiveUpWaiting(limit); });
  prover_.Want(options_.hosts);
}

void HostsCheck::GiveUpWaiting(Duration waited) {
  const Error late{ErrorCode::kTimeout,
                   "nothing came within " + SecondsText(waited)};
  for (Host& host : hosts_) {
    if (host.known()) continue;
    host.facts.error = Error(late).Wrap("host " + host.facts.host);
  }
  GoOnIfAllAreKnown();
}

HostsReport HostsCheck::Report(const Error& because) const {
  HostsReport report{options_.version, {}, probes_, links_};
  for (const Host& host : hosts_) {
    CheckedHost facts = host.facts;
    if (!host.known()) facts.error = Error(because).Wrap("host " + facts.host);
    facts.clock = OffsetOf(host.clock);
    const auto network = env_.networks.find(facts.host);
    if (facts.usable() && network != env_.networks.end()) {
      facts.place = {network->second.interface_name,
                     network->second.ring_address};
    }
    report.hosts.push_back(std::move(facts));
  }
  return report;
}

void HostsCheck::OnHost(const HostInterfaces& machine,
                        const AgentAbout* about) {
  Host& host = Named(machine.host);
  host.probe_port = machine.probe_port;
  host.facts.identity = machine.identity;
  host.facts.is_local = about == nullptr;
  host.facts.name = about != nullptr ? about->host_name : OwnHostName();
  host.facts.system = about != nullptr ? about->system : OwnSystem();
  if (about != nullptr) host.facts.version = about->version;
}

void HostsCheck::OnFailed(const std::string& name, Error error) {
  Host& host = Named(name);
  // It has an agent, or is this machine, and the others are concerned as well.
  const bool in_proof = !host.facts.identity.empty() &&
                        !error.message().starts_with("host " + name + ": ");
  host.facts.error =
      in_proof ? std::move(error).Wrap("interface proof") : std::move(error);
  // No answer of it comes any more.
  const std::set<std::size_t> measuring = measuring_;
  for (const std::size_t link : measuring) {
    if (hosts_[links_[link].from].facts.host != name) continue;
    OnMeasured(name, {link, Failed("the host was lost meanwhile")});
  }
  GoOnIfAllAreKnown();
  GoOnIfClocksAreKnown();
}

void HostsCheck::GoOnIfAllAreKnown() {
  const bool all = std::all_of(hosts_.begin(), hosts_.end(),
                               [](const Host& host) { return host.known(); });
  if (!all || phase_ != Phase::kStarts) return;
  // Handlers of the prover run: what is next begins when they are done.
  limit_ = loop_.After(Duration{0}, [this] { AskClocks(); });
}

void HostsCheck::AskClocks() {
  phase_ = Phase::kClocks;
  limit_ = loop_.After(kClockLimit, [this] { PlanRing(); });
  for (Host& host : hosts_) {
    if (host.facts.usable() && !host.facts.is_local) AskClock(host);
  }
  GoOnIfClocksAreKnown();
}

void HostsCheck::AskClock(Host& host) {
  host.asked = loop_.Now();
  host.asked_unix_us = UnixUs();
  prover_.AskTime(host.facts.host, {host.clock.size()});
}

void HostsCheck::OnTime(const std::string& name, const AgentTime& time) {
  Host& host = Named(name);
  const bool asked =
      phase_ == Phase::kClocks && time.number == host.clock.size();
  if (!asked) return;
  host.clock.push_back({host.asked_unix_us,
                        duration_cast<microseconds>(loop_.Now() - host.asked),
                        time.unix_us});
  if (host.clock.size() < kClockQuestions) return AskClock(host);
  GoOnIfClocksAreKnown();
}

void HostsCheck::GoOnIfClocksAreKnown() {
  const bool all =
      std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
        return !host.facts.usable() || host.facts.is_local ||
               host.clock.size() >= kClockQuestions;
      });
  if (all && phase_ == Phase::kClocks) PlanRing();
}

// Of machines: what two names of one have between them is no network.
void HostsCheck::PlanRing() {
  phase_ = Phase::kLinks;
  std::vector<std::size_t> ring;
  std::set<std::string> machines;
  for (std::size_t place = 0; place < hosts_.size(); ++place) {
    const CheckedHost& facts = hosts_[place].facts;
    if (facts.usable() && machines.insert(facts.identity).second) {
      ring.push_back(place);
    }
  }
  rounds_ = PlanLinks(ring.size());
  if (rounds_.empty()) return Finish();
  for (std::size_t i = 0; i < ring.size(); ++i) {
    links_.push_back({ring[i], ring[(i + 1) % ring.size()],
                      Failed("one of both hosts was lost before")});
  }
  MeasureNextRound();
}

void HostsCheck::MeasureNextRound() {
  limit_ = loop_.After(kRoundLimit, [this] { EndRound(); });
  const std::vector<std::size_t> round = std::move(rounds_.front());
  rounds_.erase(rounds_.begin());
  for (const std::size_t link : round) {
    const Host& from = hosts_[links_[link].from];
    const Host& to = hosts_[links_[link].to];
    if (!from.facts.usable() || !to.facts.usable()) continue;
    measuring_.insert(link);
    prover_.Measure(from.facts.host,
                    {link,
                     {env_.networks.at(to.facts.host).ring_address,
                      to.probe_port, to.facts.identity}});
  }
  if (measuring_.empty()) EndRound();
}

void HostsCheck::OnMeasured(const std::string& host,
                            const AgentMeasured& measured) {
  const auto link = measuring_.find(measured.number);
  if (link == measuring_.end()) return;
  CheckedLink& measuring = links_[*link];
  if (hosts_[measuring.from].facts.host != host) return;
  if (!again_ || IsBetter(measured.result, measuring.result)) {
    measuring.result = measured.result;
  }
  measuring_.erase(link);
  if (measuring_.empty()) EndRound();
}

void HostsCheck::EndRound() {
  for (const std::size_t link : std::exchange(measuring_, {})) {
    if (again_) continue;
    links_[link].result =
        Failed("no answer of its agent within " + SecondsText(kRoundLimit));
  }
  if (rounds_.empty() && !std::exchange(again_, true)) MeasureSlowOnesAgain();
  if (rounds_.empty()) return Finish();
  // Not from within what a lost host begins.
  limit_ = loop_.After(Duration{0}, [this] { MeasureNextRound(); });
}

// One that was slow by chance isn't twice.
void HostsCheck::MeasureSlowOnesAgain() {
  const std::vector<std::size_t> slow = Slow().links;
  for (std::vector<std::size_t>& round : PlanLinks(links_.size())) {
    std::erase_if(round, [&](std::size_t link) {
      return std::find(slow.begin(), slow.end(), link) == slow.end();
    });
    if (!round.empty()) rounds_.push_back(std::move(round));
  }
}

SlowLinks HostsCheck::Slow() const {
  return HostsReport{{}, {}, {}, links_}.slow_links();
}

void HostsCheck::Finish() {
  phase_ = Phase::kDone;
  limit_.reset();
  on_done_();
}

}  // namespace hvd
