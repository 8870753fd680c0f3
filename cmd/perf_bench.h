// PerfBench: one collective of hvd-perf, timed and checked.
//
// All ranks call Run with the same sizes. Throws what libhvd throws.
#pragma once

#include <cstddef>

#include "cmd/perf_options.h"
#include "cmd/perf_report.h"

namespace hvd {

class PerfBench {
 public:
  explicit PerfBench(const PerfOptions& options);
  ~PerfBench();
  PerfBench(const PerfBench&) = delete;
  PerfBench& operator=(const PerfBench&) = delete;

  // `bytes`: the size that the table shows, rounded down to whole elements for
  // each rank.
  PerfRow Run(std::size_t bytes);

 private:
  struct Shape;
  struct Memory;

  void Call(const Shape& shape, const void* in, void* out) const;
  PerfResult RunPlaced(const Shape& shape, std::byte* in, std::byte* out,
                       std::size_t bytes);
  std::size_t CountWrong(const Shape& shape, std::byte* in, std::byte* out);

  const PerfOptions options_;
  unsigned long seed_ = 1;  // grows, so that data is always fresh
};

}  // namespace hvd
