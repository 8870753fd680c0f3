#include "tests/cmd/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hvd::testing {

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string Golden(const std::string& name, const std::string& now) {
  const std::string path = HVD_SOURCE_DIR "/tests/golden/" + name;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (std::getenv("HVD_REWRITE") != nullptr) std::ofstream(path) << now;
  return ReadText(path);
}

}  // namespace hvd::testing
