// AgentGreeting: the first words between hvdrun and an agent it has started.
//
// What runs on the host speaks first, on its stdout: "HVDRUN-LOGIN" once our
// words have come through the login shell, then, from the agent itself,
// "HVDRUN-AGENT <protocol> <program version>". Only then hvdrun writes the
// payload to the agent's stdin, one line, and keeps stdin open: its end of file
// tells the agent that hvdrun, or the connection, is gone.
//
// A login shell may say anything before, and leave its last line unfinished.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hvd {

// Of all that is said between hvdrun and its agents.
constexpr int kAgentProtocol = 2;

// The payload without its newline.
constexpr std::size_t kMaxAgentPayload = 1 << 20;

// What may come before the greeting: no login shell has that much to say.
constexpr std::size_t kMostBeforeGreeting = 256 << 10;

struct AgentGreeting {
  int protocol = 0;
  std::string program_version;
  bool operator==(const AgentGreeting&) const = default;
};

// "HVDRUN-LOGIN", without a newline: what the words in front of the agent say.
std::string_view LoginMark();

// "HVDRUN-AGENT 2 0.1.0\n": all that an agent ever writes to its stdout.
std::string GreetingLine(std::string_view program_version);

// Looks for both in what comes from a host.
class GreetingScan {
 public:
  // The lines of `bytes` that are neither, with those held from before; at most
  // kLongestLine bytes of each.
  std::vector<std::string> Feed(std::string_view bytes);
  // A last line that has no end.
  std::string Rest();

  bool logged_in() const { return logged_in_; }
  const std::optional<AgentGreeting>& greeting() const { return greeting_; }
  // More came than kMostBeforeGreeting, and no greeting.
  bool too_much() const { return !greeting_ && seen_ > kMostBeforeGreeting; }

 private:
  static constexpr std::size_t kLongestLine = 1024;

  void OnLine(std::vector<std::string>& others);

  std::string line_;  // its last bytes, if it is too long
  std::size_t seen_ = 0;
  bool logged_in_ = false;
  std::optional<AgentGreeting> greeting_;
};

}  // namespace hvd
