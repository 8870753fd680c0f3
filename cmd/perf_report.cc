#include "cmd/perf_report.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hvd {
namespace {

template <class... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 400> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

std::string Columns(const PerfResult& result) {
  const std::string wrong =
      result.wrong ? std::to_string(*result.wrong) : "N/A";
  return Print(" %9.2f %7.2f %7.2f %6s %9.2f %9.2f %9.2f", result.times.mean,
               result.algbw, result.busbw, wrong.c_str(), result.times.min,
               result.times.median, result.times.p99);
}

nlohmann::json AsJson(const PerfResult& result) {
  nlohmann::json json{{"time_us", result.times.mean},
                      {"min_us", result.times.min},
                      {"median_us", result.times.median},
                      {"p99_us", result.times.p99},
                      {"algbw", result.algbw},
                      {"busbw", result.busbw}};
  if (result.wrong) json["wrong"] = *result.wrong;
  return json;
}

}  // namespace

double BusFactor(const std::string& op, int ranks) {
  const double n = ranks;
  if (op == "allreduce") return 2 * (n - 1) / n;
  if (op == "broadcast") return 1;
  return (n - 1) / n;
}

void SetBandwidths(PerfResult& result, const std::string& op, int ranks,
                   std::size_t bytes) {
  result.algbw = static_cast<double>(bytes) / result.times.mean / 1e3;
  result.busbw = result.algbw * BusFactor(op, ranks);
}

std::string PerfHeader(const PerfOptions& options, int ranks) {
  const char* const half =
      "      time   algbw   busbw #wrong       min    median       p99";
  return "# " + options.op + " on " + std::to_string(ranks) + " ranks, " +
         (options.registered ? "registered" : "private") +
         " arrays; times in us, bandwidths in GB/s\n" +
         Print("#%11s %12s %6s %8s %-62s %s\n", "size", "count", "type",
               "redop", "out-of-place", "in-place") +
         Print("#%11s %12s %6s %8s%s%s\n", "(B)", "(elements)", "", "", half,
               half);
}

std::string PerfLine(const PerfOptions& options, const PerfRow& row) {
  const bool reduces =
      options.op == "allreduce" || options.op == "reduce_scatter";
  return Print("%12zu %12zu %6s %8s", row.bytes, row.count,
               options.type.c_str(),
               reduces ? options.reduction.c_str() : "none") +
         Columns(row.out_of_place) + Columns(row.in_place) + '\n';
}

std::string PerfJson(const PerfOptions& options, int ranks,
                     const std::vector<PerfRow>& rows) {
  nlohmann::json json{{"op", options.op},
                      {"type", options.type},
                      {"reduce", options.reduction},
                      {"ranks", ranks},
                      {"registered", options.registered},
                      {"sizes", nlohmann::json::array()}};
  for (const PerfRow& row : rows) {
    json["sizes"].push_back({{"bytes", row.bytes},
                             {"count", row.count},
                             {"out_of_place", AsJson(row.out_of_place)},
                             {"in_place", AsJson(row.in_place)}});
  }
  return json.dump(1) + '\n';
}

}  // namespace hvd
