// AgentMessage: what hvdrun and an agent tell each other, as plain data.
//
// launcher/proto/agent.proto is the same as bytes;
// docs/design/agent_protocol.md has the order of things.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"
#include "discovery/interfaces.h"
#include "discovery/link_meter.h"
#include "discovery/probe_dialer.h"
#include "launcher/remote_command.h"
#include "launcher/tunnel_piece.h"
#include "rendezvous/world.h"

namespace hvd {

// Commands: hvdrun to an agent.

struct AgentLaunch {
  LaunchId id{};
  std::vector<std::string> argv;
  EnvList env;
  std::string cwd;
  bool has_input = false;  // it comes as WorkerBytes; else end of file
  bool operator==(const AgentLaunch&) const = default;
};
struct AgentSignal {
  LaunchId id{};
  int signo = 0;
  bool operator==(const AgentSignal&) const = default;
};
struct AgentStop {
  LaunchId id{};
  int first_signal = 0;
  Duration grace{};
  bool operator==(const AgentStop&) const = default;
};
struct AgentStopLeftovers {
  Duration grace{};
  bool operator==(const AgentStopLeftovers&) const = default;
};
// Finds out which addresses this host reaches. AgentProbed answers each.
struct AgentProbe {
  std::vector<ProbeTarget> targets;
  std::uint64_t first = 0;  // number of the first; the others follow
  bool operator==(const AgentProbe&) const = default;
};
// hvdrun is about to be stopped by its user (Ctrl-Z): its silence means nothing
// until it speaks again. AgentResting answers.
struct AgentRest {
  bool operator==(const AgentRest&) const = default;
};
// To be started from there, by ssh or what stands for it.
struct AgentStartOther {
  std::uint64_t start = 0;  // number of this try, for what is told of it
  RemoteHost host;
  RemoteShell shell;  // but for ssh_config, which that host has its own of
  AgentPlace place;
  std::string payload;  // for the new agent's stdin alone: a secret
  bool operator==(const AgentStartOther&) const = default;
};
// Ends that connection, and with it the agent.
struct AgentEndOther {
  std::uint64_t start = 0;
  bool operator==(const AgentEndOther&) const = default;
};
// The answer to AgentCutOff: go on without the connection that started you.
struct AgentStay {
  bool operator==(const AgentStay&) const = default;
};
// Said by both ends while they have nothing else to say.
struct AgentAlive {
  bool operator==(const AgentAlive&) const = default;
};
// The job is over: the agent ends.
struct AgentFarewell {
  bool operator==(const AgentFarewell&) const = default;
};
// What does the clock of this host say? AgentTime answers at once.
struct AgentAskTime {
  std::uint64_t number = 0;
  bool operator==(const AgentAskTime&) const = default;
};
// How good is the way from this host to that address? AgentMeasured answers.
struct AgentMeasure {
  std::uint64_t number = 0;
  ProbeTarget target;
  bool operator==(const AgentMeasure&) const = default;
};

using AgentCommand =
    std::variant<AgentLaunch, AgentSignal, AgentStop, AgentStopLeftovers,
                 AgentProbe, AgentRest, AgentAlive, AgentFarewell, AgentAskTime,
                 AgentMeasure, TunnelPiece, TunnelTaken, AgentStartOther,
                 AgentEndOther, AgentStay>;

// Events: an agent to hvdrun.

// The first one.
struct AgentAbout {
  std::string version;         // of the program
  std::string host_name = {};  // as the host calls itself
  pid_t pid = 0;
  std::int64_t unix_ms = 0;  // its clock
  // hvdrun's address as this host has reached it.
  std::string hvdrun_address = {};
  std::uint16_t master_port = 0;  // held for a rank 0 of this host
  std::string identity = {};      // of the machine, in this job
  std::uint16_t probe_port = 0;
  std::vector<Interface> interfaces = {};
  std::string default_route = {};  // the interface of it; "" if there is none
  std::string system = {};         // "Linux 6.1.0 x86_64"
  std::uint16_t store_port = 0;    // of its entrance to the store
  bool operator==(const AgentAbout&) const = default;
};
struct AgentStarted {
  LaunchId id{};
  pid_t pid = 0;
  bool operator==(const AgentStarted&) const = default;
};
struct AgentStartFailed {
  LaunchId id{};
  ErrorCode code{};
  std::string message;
  bool operator==(const AgentStartFailed&) const = default;
};
struct AgentExited {
  LaunchId id{};
  ExitStatus status;
  // All that it had written by then. The bytes may still be on their way.
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  bool operator==(const AgentExited&) const = default;
};
struct AgentStuck {
  LaunchId id{};
  pid_t pid = 0;
  bool operator==(const AgentStuck&) const = default;
};
// As LauncherHandlers::on_stopped.
struct AgentStopped {
  LaunchId id{};
  bool operator==(const AgentStopped&) const = default;
};
// Nobody reads the worker's stdin any more.
struct AgentInputClosed {
  LaunchId id{};
  bool operator==(const AgentInputClosed&) const = default;
};
struct AgentLeftoversStopped {
  bool operator==(const AgentLeftoversStopped&) const = default;
};
struct AgentProbed {
  std::uint64_t number = 0;
  ProbeResult result;
  bool operator==(const AgentProbed&) const = default;
};
struct AgentResting {
  bool operator==(const AgentResting&) const = default;
};
// The agent cannot go on: its keeper was killed.
struct AgentBroken {
  std::string message;
  bool operator==(const AgentBroken&) const = default;
};
struct AgentTime {
  std::uint64_t number = 0;
  std::int64_t unix_us = 0;
  bool operator==(const AgentTime&) const = default;
};
struct AgentMeasured {
  std::uint64_t number = 0;
  LinkResult result;
  bool operator==(const AgentMeasured&) const = default;
};
// Somebody on that host was sent away from the store: why.
struct AgentRefused {
  std::string why;
  bool operator==(const AgentRefused&) const = default;
};
// Of an AgentStartOther, as BootstrapHandlers tell it.
struct AgentOtherLogin {
  std::uint64_t start = 0;
  bool operator==(const AgentOtherLogin&) const = default;
};
struct AgentOtherGreeted {
  std::uint64_t start = 0;
  std::string version;
  bool operator==(const AgentOtherGreeted&) const = default;
};
struct AgentOtherSaid {
  std::uint64_t start = 0;
  std::string line;
  bool operator==(const AgentOtherSaid&) const = default;
};
struct AgentOtherEnded {
  std::uint64_t start = 0;
  StartPhase phase{};
  ErrorCode code{};
  std::string message;
  std::string hint = {};
  std::string reason = {};
  Again again{};
  bool explained = true;
  bool operator==(const AgentOtherEnded&) const = default;
};
// The connection that started this agent has ended: is that the end of it, or
// is whoever started it lost? AgentStay answers, or AgentFarewell.
struct AgentCutOff {
  bool operator==(const AgentCutOff&) const = default;
};

using AgentEvent =
    std::variant<AgentAbout, AgentStarted, AgentStartFailed, AgentExited,
                 AgentStuck, AgentStopped, AgentInputClosed,
                 AgentLeftoversStopped, AgentProbed, AgentResting, AgentAlive,
                 AgentBroken, AgentTime, AgentMeasured, TunnelPiece,
                 TunnelTaken, AgentRefused, AgentOtherLogin, AgentOtherGreeted,
                 AgentOtherSaid, AgentOtherEnded, AgentCutOff>;

}  // namespace hvd
