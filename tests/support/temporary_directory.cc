#include "tests/support/temporary_directory.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hvd::testing {

TemporaryDirectory::TemporaryDirectory() : path_("/tmp/hvd-test-XXXXXX") {
  REQUIRE(::mkdtemp(path_.data()) != nullptr);
  // Tests that run programs as another user put their files here too.
  REQUIRE(::chmod(path_.c_str(), 0777) == 0);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::operator/(std::string_view name) const {
  return path_ + '/' + std::string(name);
}

std::string TemporaryDirectory::Write(std::string_view name,
                                      std::string_view text,
                                      unsigned mode) const {
  const std::string path = *this / name;
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace hvd::testing
