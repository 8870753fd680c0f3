// A host that nobody knows. That it is no other machine can't be ruled out, so
// hvdrun has got as far as the way to others when it learns so.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "tests/e2e/hvdrun.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {

using namespace std::chrono_literals;

TEST_CASE("hvdrun names an unknown host before anything starts", "[e2e]") {
  // Horovod #590: a missing colon.
  TemporaryDirectory directory;
  const std::string trace = directory / "started";
  const ProgramResult result =
      Hvdrun({"-np", "4", "-H", "localhost:2,localhost2:2", "touch", trace});
  CHECK(result.status.ToShell() == 125);
  CHECK(result.took < 10s);
  CHECK(Contains(result.err, "localhost2"));
  CHECK_FALSE(std::filesystem::exists(trace));
}

}  // namespace hvd::testing
