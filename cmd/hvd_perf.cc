// hvd-perf: how long collectives take, in the columns that nccl-tests prints.
//
// A worker like any other: it links libhvd, and runs under hvdrun with any
// number of ranks and hosts, or by itself.
#include <hvd/hvd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "cmd/perf_bench.h"
#include "cmd/perf_options.h"
#include "cmd/perf_report.h"

namespace {

int Refuse(const std::string& text) {
  std::fprintf(stderr, "hvd-perf: error: %s\n", text.c_str());
  return 125;
}

int Run(const hvd::PerfOptions& options) {
  hvd::Init();
  const bool speaks = hvd::Rank() == 0;
  if (speaks) std::fputs(PerfHeader(options, hvd::Size()).c_str(), stdout);
  hvd::PerfBench bench(options);
  std::vector<hvd::PerfRow> rows;
  std::size_t wrong = 0;
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes;
       bytes *= options.factor) {
    rows.push_back(bench.Run(bytes));
    if (speaks) std::fputs(PerfLine(options, rows.back()).c_str(), stdout);
    std::fflush(stdout);
    wrong += rows.back().out_of_place.wrong.value_or(0) +
             rows.back().in_place.wrong.value_or(0);
  }
  if (speaks && options.json_file) {
    std::ofstream file(*options.json_file);
    file << PerfJson(options, hvd::Size(), rows);
    if (!file.flush()) {
      return Refuse("--json " + *options.json_file + ": cannot be written");
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = hvd::ParsePerfOptions({argv + 1, argv + argc});
  if (!options.ok()) return Refuse(options.error().message());
  if (options.value().help) {
    std::fputs(hvd::PerfHelp().data(), stdout);
    return 0;
  }
  try {
    return Run(options.value());
  } catch (const std::exception& error) {
    return Refuse(error.what());
  }
}
