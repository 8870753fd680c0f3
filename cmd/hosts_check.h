// HostsCheck: takes hosts the way that a job takes them, then measures what is
// between them.
//
//   every host is proved or has failed -> clocks -> the links of the ring, in
//   rounds that don't disturb each other -> those that look slow once more
//
// It goes on without the hosts that fail. Each wait has a limit; all of them
// together are the start timeout and kLongestMeasuring. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "cmd/hosts_report.h"
#include "cmd/watched_prover.h"
#include "rendezvous/worker_env.h"

namespace hvd {

class HostsCheck {
 public:
  // After the last agent may have come: two batches of probes, and a little.
  static constexpr Duration kProofLimit{10'000};
  static constexpr Duration kClockLimit{2'000};
  static constexpr std::size_t kClockQuestions = 8;
  // An agent's own limit for a link, and its answer's way.
  static constexpr Duration kRoundLimit = LinkMeter::kLimit + Duration{1'000};
  // Three rounds, twice.
  static constexpr Duration kLongestMeasuring =
      kProofLimit + kClockLimit + 6 * kRoundLimit;

  struct Options {
    HostList hosts;
    Duration start_timeout{30'000};
    std::string version;  // hvdrun's own
  };

  // `env`: where `prover` writes the hosts' networks. Both outlive this.
  HostsCheck(EventLoop& loop, WatchedProver& prover, const JobEnv& env,
             const Options& options);
  HostsCheck(const HostsCheck&) = delete;
  HostsCheck& operator=(const HostsCheck&) = delete;

  // `on_done` is called once, on the loop.
  void Start(std::function<void()> on_done);
  // What is known by now; hosts that are still on their way can't be used
  // `because` of that.
  HostsReport Report(const Error& because) const;

 private:
  struct Host {
    CheckedHost facts;
    std::uint16_t probe_port = 0;
    bool proved = false;
    std::vector<ClockSample> clock;
    Instant asked;
    std::int64_t asked_unix_us = 0;

    bool known() const { return proved || facts.error.has_value(); }
  };

  void OnHost(const HostInterfaces& machine, const AgentAbout* about);
  void OnFailed(const std::string& host, Error error);
  void OnTime(const std::string& host, const AgentTime& time);
  void OnMeasured(const std::string& host, const AgentMeasured& measured);
  Host& Named(const std::string& host) { return hosts_.at(places_.at(host)); }

  void GiveUpWaiting(Duration waited);
  void GoOnIfAllAreKnown();
  void AskClocks();
  void AskClock(Host& host);
  void GoOnIfClocksAreKnown();
  void PlanRing();
  void MeasureNextRound();
  void EndRound();
  void MeasureSlowOnesAgain();
  SlowLinks Slow() const;
  void Finish();

  EventLoop& loop_;
  WatchedProver& prover_;
  const JobEnv& env_;
  const Options options_;
  std::function<void()> on_done_;
  std::vector<Host> hosts_;                    // as they were given
  std::map<std::string, std::size_t> places_;  // in hosts_
  std::vector<CheckedProbe> probes_;
  enum class Phase { kStarts, kClocks, kLinks, kDone } phase_{};
  std::vector<CheckedLink> links_;
  std::vector<std::vector<std::size_t>> rounds_;  // of links_; still to come
  std::set<std::size_t> measuring_;               // of links_
  bool again_ = false;                            // for those that look slow
  std::unique_ptr<Timer> limit_;                  // of the present wait
};

}  // namespace hvd
