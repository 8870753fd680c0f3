#include "base/read_file.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/temporary_directory.h"

namespace hvd {

TEST_CASE("ReadWholeFile gives every byte", "[base]") {
  const testing::TemporaryDirectory dir;
  const std::string bytes = std::string(200'000, 'x') + std::string("\0y", 2);
  CHECK(ReadWholeFile(dir.Write("f", bytes)).value() == bytes);
}

TEST_CASE("ReadWholeFile names the file that it can't have", "[base]") {
  const testing::TemporaryDirectory dir;
  CHECK(ReadWholeFile("/no/such/file").error().message() ==
        "/no/such/file: No such file or directory");
  CHECK(ReadWholeFile(dir.path()).error().message() ==
        dir.path() + ": Is a directory");
}

TEST_CASE("ReadWholeFile refuses what no person wrote", "[base]") {
  CHECK(ReadWholeFile("/dev/zero").error().message() ==
        "/dev/zero: larger than 16 MiB");
}

}  // namespace hvd
