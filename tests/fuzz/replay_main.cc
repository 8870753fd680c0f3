// Replays a fuzz target's corpus without a fuzzer: each file, the beginnings of
// each file, and some copies of it with bytes changed (always the same ones).
//
// usage: <target>_replay DIRECTORY...

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz_target.h"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeed = 20'240'607;
constexpr std::size_t kMaxPrefixes = 256;
constexpr int kMutations = 64;

void Feed(const std::string& bytes) {
  // A copy of exactly this size: reading past the end is then seen.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

void FeedVariants(const std::string& bytes, std::mt19937& random) {
  Feed(bytes);
  const std::size_t step = bytes.size() / kMaxPrefixes + 1;
  for (std::size_t size = 0; size < bytes.size(); size += step) {
    Feed(bytes.substr(0, size));
  }
  if (bytes.empty()) return;
  for (int i = 0; i < kMutations; ++i) {
    std::string changed = bytes;
    for (int j = 0; j <= i % 4; ++j) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    Feed(changed);
  }
}

std::vector<fs::path> FilesIn(const char* directory) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(directory, ec)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(kSeed);
  std::printf("seed %u\n", kSeed);
  std::size_t replayed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : FilesIn(argv[i])) {
      std::printf("%s\n", file.c_str());
      std::fflush(stdout);  // the last line names the culprit of a crash
      std::ifstream in(file, std::ios::binary);
      FeedVariants({std::istreambuf_iterator<char>(in), {}}, random);
      ++replayed;
    }
  }
  std::printf("%zu files\n", replayed);
  return replayed > 0 ? 0 : 1;
}
