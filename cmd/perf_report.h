// PerfReport: what hvd-perf prints: a table in nccl-tests' columns, and JSON.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cmd/perf_loop.h"
#include "cmd/perf_options.h"

namespace hvd {

// One placement (out of place, in place) of one size.
struct PerfResult {
  perf::Times times;
  double algbw = 0;  // GB/s
  double busbw = 0;
  std::optional<std::size_t> wrong;  // elements; nullopt: not checked
};

struct PerfRow {
  std::size_t bytes = 0;
  std::size_t count = 0;  // elements
  PerfResult out_of_place;
  PerfResult in_place;
};

// What a rank must move, for each byte of the size.
double BusFactor(const std::string& op, int ranks);
// The bandwidths of that time.
void SetBandwidths(PerfResult& result, const std::string& op, int ranks,
                   std::size_t bytes);

std::string PerfHeader(const PerfOptions& options, int ranks);
std::string PerfLine(const PerfOptions& options, const PerfRow& row);
std::string PerfJson(const PerfOptions& options, int ranks,
                     const std::vector<PerfRow>& rows);

}  // namespace hvd
