// PerfOptions: what hvd-perf is asked to measure, from its command line.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hvd {

struct PerfOptions {
  std::string op = "allreduce";
  std::string type = "f32";
  std::string reduction = "sum";
  std::size_t min_bytes = 4;
  std::size_t max_bytes = std::size_t{64} << 20U;
  std::size_t factor = 4;
  std::optional<int> iterations;  // as the size asks for, if none are given
  bool check = false;
  bool registered = false;
  std::optional<std::string> json_file;
  bool help = false;
};

Result<PerfOptions> ParsePerfOptions(const std::vector<std::string>& words);
std::string_view PerfHelp();

}  // namespace hvd
