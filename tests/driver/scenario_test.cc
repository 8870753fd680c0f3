#include "tests/driver/scenario.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace hvd {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Scenarios() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(HVD_SCENARIO_DIR)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadAll(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

// HVD_REWRITE=1 writes down what happened instead; read the difference.
TEST_CASE("every scenario unfolds as its file says", "[driver][scenario]") {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const bool rewrite = std::getenv("HVD_REWRITE") != nullptr;
  const std::vector<fs::path> files = Scenarios();
  REQUIRE(files.size() >= 10);
  for (const fs::path& file : files) {
    CAPTURE(file.filename());
    const std::string text = ReadAll(file);
    const Result<std::string> replayed = testing::Replay(text);
    if (!replayed.ok()) FAIL(replayed.error().message());
    if (rewrite) {
      std::ofstream(file) << replayed.value();
    } else {
      CHECK(replayed.value() == text);
    }
  }
}

TEST_CASE("a scenario that cannot be read is an error", "[driver][scenario]") {
  CHECK_FALSE(testing::Replay("").ok());
  CHECK_FALSE(testing::Replay("options np=1\nt=0 dance\n").ok());
  CHECK_FALSE(testing::Replay("options np=1\nt=x tick\n").ok());
  CHECK_FALSE(testing::Replay("options np=1\nnonsense\n").ok());
}

}  // namespace hvd
