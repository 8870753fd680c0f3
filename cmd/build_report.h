// Build report: what --check-build prints.
//
// First the block that horovodrun prints, in its shape, so that what reads that
// can read this; then what this build is made of. Pure.
// Source of the shape: horovod/runner/launch.py (0.28.1), check_build.
#pragma once

#include <string>

#include "base/result.h"

namespace hvd {

struct BuildFacts {
  std::string version;
  std::string compiler;        // see CompilerText
  Result<std::string> keeper;  // where it is, or why it is not found
  Result<std::string> libhvd;
  Result<std::string> agent;  // what workers on other hosts need
};

// "GNU 12.2.0": what compiled this program.
std::string CompilerText();

std::string BuildReportText(const BuildFacts& facts);

}  // namespace hvd
