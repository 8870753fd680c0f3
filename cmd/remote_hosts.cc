#include "cmd/remote_hosts.h"

#include <algorithm>
#include <utility>

namespace hvd {
namespace {

// Hosts that come at about the same time are proved together.
constexpr Duration kGather{100};
constexpr Duration kFirstNote{5'000};
constexpr Duration kNextNote{10'000};
constexpr Duration kLookForIdle{500};

}  // namespace

Result<std::unique_ptr<RemoteHosts>> RemoteHosts::Make(EventLoop& loop,
                                                       Options options,
                                                       Parts parts) {
  Result<MachineNetwork> network =
      MachineNetwork::Open(loop, options.pool.probe_key, options.pool.ports);
  if (!network.ok()) return std::move(network).error();
  Result<HostInterfaces> machine = network.value().Look();
  if (!machine.ok()) return std::move(machine).error();
  Result<std::vector<std::string>> addresses =
      AddressesToDial(machine.value(), options.only_interfaces);
  if (!addresses.ok()) return std::move(addresses).error();
  options.pool.addresses = std::move(addresses).value();
  return std::unique_ptr<RemoteHosts>(new RemoteHosts(
      loop, std::move(options), std::move(parts), std::move(network).value()));
}

RemoteHosts::RemoteHosts(EventLoop& loop, Options options, Parts parts,
                         MachineNetwork network)
    : loop_(loop),
      options_(std::move(options)),
      parts_(std::move(parts)),
      network_(std::move(network)),
      proof_(options_.only_interfaces),
      dialer_(ProbeDialer::Make(loop, options_.pool.probe_key)),
      pool_(
          loop, options_.pool, parts_.bootstrap, parts_.worker_handlers,
          {.on_agent = [this](
                           const std::string& host,
                           const AgentAbout& about) { OnAgent(host, about); },
           .on_probed =
               [this](const std::string& host, const AgentProbed& probed) {
                 const auto probe = probes_.extract(probed.number);
                 if (probe.empty() || probe.mapped().from != host) return;
                 OnProbed(probe.mapped(), probed.result);
               },
           .on_failed = [this](const std::string& host,
                               Error error) { Fail(host, std::move(error)); },
           .on_lost = [this](const std::string& host,
                             Error error) { OnLost(host, std::move(error)); },
           .on_chatter =
               [this](const std::string& line) { options_.say(line); },
           .on_time =
               [this](const std::string& host, const AgentTime& time) {
                 if (watcher_) watcher_->on_time(host, time);
               },
           .on_measured =
               [this](const std::string& host, const AgentMeasured& measured) {
                 if (watcher_) watcher_->on_measured(host, measured);
               }}) {}

void RemoteHosts::AskTime(const std::string& host, AgentAskTime question) {
  if (AgentLauncher* agent = pool_.Find(host)) agent->Send(question);
}

void RemoteHosts::Measure(const std::string& host, AgentMeasure question) {
  if (AgentLauncher* agent = pool_.Find(host)) {
    return agent->Send(std::move(question));
  }
  if (!meter_) meter_ = LinkMeter::Make(loop_, options_.pool.probe_key);
  meter_->Measure(question.target, [this, host, number = question.number](
                                       const LinkResult& result) {
    watcher_->on_measured(host, {number, result});
  });
}

void RemoteHosts::Want(const HostList& hosts) {
  std::set<std::string> wanted;
  listed_.clear();
  for (const HostSlots& host : hosts) {
    wanted.insert(host.host);
    listed_.push_back(host.host);
  }
  std::vector<std::string> others;
  for (const auto& [name, host] : hosts_) {
    if (!wanted.contains(name)) others.push_back(name);
  }
  for (const std::string& name : others) Retire(name, hosts_.at(name));
  for (const HostSlots& slots : hosts) {
    const auto known = hosts_.find(slots.host);
    if (known == hosts_.end()) {
      Add(slots);
    } else if (known->second.retiring) {
      Recall(slots.host, known->second);
    }
  }
  if (!waiting_timer_ && AnyOnItsWay()) {
    waiting_timer_ = loop_.After(kFirstNote, [this] { SayWaiting(); });
  }
}

void RemoteHosts::Add(const HostSlots& slots) {
  Host& host = hosts_[slots.host];
  host.slots = slots;
  host.lookup = LookUpHosts(
      loop_, {slots.host}, options_.lookup_limit,
      [this, name = slots.host](const Result<std::vector<HostAddress>>& found) {
        OnLookedUp(name, found);
      });
}

// Workers leave a job in their own time: their host stays until they have.
void RemoteHosts::Retire(const std::string& name, Host& host) {
  if (!host.proved) return Forget(name);
  if (host.is_local) {
    // Its launcher is that of all names of this machine, and stays.
    proof_.RemoveHost(name);
    hosts_.erase(name);
    return;
  }
  host.retiring = true;
  if (!retire_timer_) {
    retire_timer_ = loop_.After(kLookForIdle, [this] { ForgetIdle(); });
  }
}

void RemoteHosts::Recall(const std::string& name, Host& host) {
  host.retiring = false;
  loop_.Post([this, alive = std::weak_ptr<int>(alive_), name] {
    const bool is_wanted = !alive.expired() && hosts_.contains(name) &&
                           hosts_.at(name).proved && !hosts_.at(name).retiring;
    if (is_wanted) handlers_.on_proved(name);
  });
}

void RemoteHosts::ForgetIdle() {
  retire_timer_.reset();
  std::vector<std::string> idle;
  bool any_busy = false;
  for (const auto& [name, host] : hosts_) {
    if (!host.retiring) continue;
    const AgentLauncher* agent = pool_.Find(name);
    if (agent != nullptr && !agent->idle()) {
      any_busy = true;
    } else {
      idle.push_back(name);
    }
  }
  for (const std::string& name : idle) Forget(name);
  if (any_busy) {
    retire_timer_ = loop_.After(kLookForIdle, [this] { ForgetIdle(); });
  }
}

void RemoteHosts::Forget(const std::string& name) {
  hosts_.erase(name);
  proof_.RemoveHost(name);
  pool_.Drop(name);
  parts_.router.Remove(name);
  // Who was waited for with it need not wait any more.
  ProveSoon();
}

// A name that is unknown here may still be one to ssh.
void RemoteHosts::OnLookedUp(const std::string& name,
                             const Result<std::vector<HostAddress>>& found) {
  Host& host = hosts_.at(name);
  if (found.ok()) {
    host.addresses = {found.value().front().address};
    host.is_local = found.value().front().is_local;
  }
  // Its own handler is what runs.
  loop_.Post([lookup = std::shared_ptr<HostLookup>(std::move(host.lookup))] {});
  if (host.is_local) return AddLocal(name, host);
  if (!found.ok() && options_.unknown_name_limit) {
    host.give_up =
        loop_.After(*options_.unknown_name_limit,
                    [this, name, why = found.error()] { Fail(name, why); });
  }
  pool_.Want({name, host.slots.login});
}

void RemoteHosts::AddLocal(const std::string& name, Host& host) {
  Result<HostInterfaces> machine = network_.Look();
  if (!machine.ok()) return Fail(name, std::move(machine).error());
  host.master_port = network_.master_port();
  machine.value().host = name;
  machine.value().is_local = true;
  if (watcher_) watcher_->on_host(machine.value(), nullptr);
  Prove(host, std::move(machine).value());
}

void RemoteHosts::OnAgent(const std::string& name, const AgentAbout& about) {
  Host& host = hosts_.at(name);
  host.hvdrun_address = about.hvdrun_address;
  host.master_port = about.master_port;
  host.store_port = about.store_port;
  // From here on it waits for the others; the proof has limits of its own.
  pool_.Ready(name);
  HostInterfaces machine{.host = name,
                         .identity = about.identity,
                         .probe_port = about.probe_port,
                         .interfaces = about.interfaces,
                         .default_route = about.default_route,
                         .preferred = {},
                         .is_local = false};
  if (watcher_) watcher_->on_host(machine, &about);
  Prove(host, std::move(machine));
}

void RemoteHosts::Prove(Host& host, HostInterfaces machine) {
  host.give_up.reset();
  machine.preferred = host.addresses;
  for (const std::string& line :
       UnmatchedInterfaces(options_.user_env, machine)) {
    options_.say(line);
  }
  host.in_proof = true;
  host.found = std::move(machine);
  ProveSoon();
}

// All hosts of a static job are proved at once; others do not wait for those
// that may never come.
void RemoteHosts::ProveSoon() {
  if (options_.needed == HostsNeeded::kAll && AnyOnItsWay()) return;
  prove_timer_ = loop_.After(AnyOnItsWay() ? kGather : Duration{0},
                             [this] { RunProbes(); });
}

// In the order of the list: whom the proof blames must not depend on whose ssh
// was faster.
void RemoteHosts::TellProof() {
  for (const std::string& name : listed_) {
    const auto host = hosts_.find(name);
    if (host == hosts_.end() || !host->second.found) continue;
    proof_.AddHost(*std::exchange(host->second.found, std::nullopt));
  }
}

void RemoteHosts::RunProbes() {
  TellProof();
  std::map<std::string, std::vector<HostProbe>> by_host;
  for (HostProbe& probe : proof_.TakeProbes()) {
    by_host[probe.from].push_back(std::move(probe));
  }
  for (auto& [from, probes] : by_host) {
    std::vector<ProbeTarget> targets;
    for (const HostProbe& probe : probes) targets.push_back(probe.target);
    if (AgentLauncher* agent = pool_.Find(from)) {
      agent->Send(AgentProbe{std::move(targets), next_probe_});
      for (HostProbe& probe : probes) {
        probes_.emplace(next_probe_++, std::move(probe));
      }
    } else {
      dialer_->Dial(std::move(targets),
                    [this, probes = std::move(probes)](
                        std::size_t index, const ProbeResult& result) {
                      OnProbed(probes[index], result);
                    });
    }
  }
  CheckProofs();
}

void RemoteHosts::OnProbed(const HostProbe& probe, const ProbeResult& result) {
  if (watcher_) watcher_->on_probe(probe, result);
  proof_.OnResult(probe, result);
  RunProbes();
}

void RemoteHosts::CheckProofs() {
  for (const std::string& name : proof_.hosts()) {
    const auto found = hosts_.find(name);
    if (found == hosts_.end()) continue;
    const HostProof proof = proof_.Of(name);
    if (proof.state == ProofState::kFailed) {
      Error error = *proof.error;
      // Who watches the probes shows them.
      for (const std::string& row : proof.table) {
        if (!watcher_) options_.say(row);
      }
      Fail(name, std::move(error));
      return ProveSoon();  // handlers may have changed everything
    }
    if (proof.state != ProofState::kProved) continue;
    const bool first = !found->second.proved;
    const Status admitted = Admit(name, found->second, proof.place);
    if (!admitted.ok()) {
      Fail(name, admitted.error());
      return ProveSoon();
    }
    if (first) handlers_.on_proved(name);
  }
}

Status RemoteHosts::Admit(const std::string& name, Host& host,
                          const HostPlace& place) {
  HostNetwork& network = parts_.env.networks[name];
  if (host.proved && network.ring_address == place.address) return Done{};
  network.interface_name = place.interface_name;
  network.ring_address = place.address;
  network.master_port = host.master_port;
  if (!host.is_local) {
    Result<std::uint16_t> port = parts_.server.AddAddress(host.hvdrun_address);
    if (!port.ok()) return std::move(port).error();
    network.rendezvous_address = host.hvdrun_address;
    network.rendezvous_port = port.value();
    network.store_address = "127.0.0.1";
    network.store_port = host.store_port;
  }
  parts_.server.SetRingAddress(name, place.address);
  AgentLauncher* agent = pool_.Find(name);
  parts_.router.Add(name, agent != nullptr ? *agent : parts_.local);
  host.proved = true;
  return Done{};
}

void RemoteHosts::Fail(const std::string& name, Error error) {
  failed_before_.insert(name);
  Forget(name);
  handlers_.on_failed(name, std::move(error));
}

void RemoteHosts::OnLost(const std::string& name, Error error) {
  const bool proved = hosts_.at(name).proved;
  Forget(name);
  if (proved) {
    handlers_.on_lost(name, std::move(error));
  } else {
    handlers_.on_failed(name, std::move(error).Wrap("host " + name));
  }
}

void RemoteHosts::SayWaiting() {
  waiting_timer_.reset();
  const std::string line = pool_.Waiting();
  // An elastic job tries them again for as long as they are listed.
  const bool any_new =
      std::any_of(hosts_.begin(), hosts_.end(), [this](const auto& entry) {
        return !entry.second.proved && !failed_before_.contains(entry.first);
      });
  if (line.empty() || !any_new) return;
  waiting_timer_ = loop_.After(kNextNote, [this] { SayWaiting(); });
  options_.say(line);
}

bool RemoteHosts::AnyOnItsWay() const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const auto& entry) { return !entry.second.in_proof; });
}

}  // namespace hvd
