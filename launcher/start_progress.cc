#include "launcher/start_progress.h"

namespace hvd {
namespace {

constexpr std::size_t kMostNamed = 10;

std::string Describe(const MissingHost& missing) {
  if (missing.tries == 0) return missing.host + " (its turn)";
  std::string text =
      missing.host + " (" + std::string(PhaseName(missing.phase));
  if (!missing.reason.empty()) text += ": " + missing.reason;
  if (missing.tries > 1) text += ", try " + std::to_string(missing.tries);
  return text + ')';
}

}  // namespace

std::string WaitingText(const std::vector<MissingHost>& missing) {
  std::string text;
  for (std::size_t at = 0; at < missing.size() && at < kMostNamed; ++at) {
    text += (at == 0 ? "waiting for hosts: " : ", ") + Describe(missing[at]);
  }
  if (missing.size() > kMostNamed) {
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  }
  return text;
}

}  // namespace hvd
