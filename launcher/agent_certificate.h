// AgentCertificate: what hvdrun shows its agents, made for one job.
//
// A self-signed P-256 certificate. Its time of validity covers all there is, as
// hosts' clocks are not to be trusted; the agents pin the certificate itself.
#pragma once

#include <string>

#include "base/result.h"

namespace hvd {

// The name in it.
inline constexpr const char* kAgentServerName = "hvdrun";

struct AgentCertificate {
  std::string key;          // PEM; secret
  std::string certificate;  // PEM
};

// kInternal: OpenSSL can't.
Result<AgentCertificate> MakeAgentCertificate();

}  // namespace hvd
