// Reads the input as what comes from a host before its agent speaks, whole and
// byte by byte.

#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "launcher/agent_greeting.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hvd::GreetingScan whole;
  hvd::GreetingScan bytes;
  const std::vector<std::string> lines = whole.Feed(text);
  std::vector<std::string> again;
  for (const char& c : text) {
    for (std::string& line : bytes.Feed({&c, 1})) again.push_back(line);
  }
  HVD_CHECK(lines == again && whole.Rest() == bytes.Rest());
  HVD_CHECK(whole.logged_in() == bytes.logged_in());
  HVD_CHECK(whole.greeting() == bytes.greeting());
  for (const std::string& line : lines) {
    HVD_CHECK(line.find('\n') == std::string::npos);
  }
  if (!whole.greeting()) return 0;
  HVD_CHECK(whole.greeting()->protocol >= 0);
  hvd::GreetingScan reread;
  reread.Feed(hvd::GreetingLine(whole.greeting()->program_version));
  HVD_CHECK(reread.greeting() && reread.greeting()->program_version ==
                                     whole.greeting()->program_version);
  return 0;
}
