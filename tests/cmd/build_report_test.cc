#include "cmd/build_report.h"

#include <catch2/catch.hpp>

#include "cmd/version.h"
#include "tests/cmd/golden.h"

namespace hvd {
namespace {

BuildFacts Facts() {
  return {"1.2.3", "GNU 12.2.0", std::string("/opt/libexec/hvdrun-keeper"),
          Error{ErrorCode::kNotFound, "/opt/lib/libhvd.so is not there"},
          std::string("/opt/libexec/hvdrun-agent")};
}

}  // namespace

TEST_CASE("hvdrun --check-build is what its golden file says", "[cmd][unit]") {
  const std::string text = BuildReportText(Facts());
  CHECK(text == testing::Golden("check_build.txt", text));
}

TEST_CASE("hvdrun --check-build begins with the block that horovodrun prints",
          "[cmd][unit]") {
  const std::string text = BuildReportText(Facts());
  std::size_t at = 0;
  for (const char* line :
       {"hvdrun v1.2.3:\n\n", "Available Frameworks:\n", "    [ ] PyTorch\n",
        "Available Controllers:\n", "    [ ] MPI\n", "    [ ] Gloo\n",
        "Available Tensor Operations:\n", "    [ ] NCCL\n"}) {
    CAPTURE(line);
    const std::size_t found = text.find(line, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_CASE("the build knows its version and its compiler", "[cmd][unit]") {
  CHECK(Version() == HVD_PROJECT_VERSION);
  CHECK(CompilerText().find(' ') != std::string::npos);
}

}  // namespace hvd
