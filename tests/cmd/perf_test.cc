// What hvd-perf is made of: its words, its data, its table.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cmd/perf_data.h"
#include "cmd/perf_loop.h"
#include "cmd/perf_options.h"
#include "cmd/perf_report.h"

namespace hvd {
namespace {

std::string Refused(const std::vector<std::string>& words) {
  const Result<PerfOptions> options = ParsePerfOptions(words);
  return options.ok() ? "" : options.error().message();
}

}  // namespace

TEST_CASE("hvd-perf takes flags with their value apart or behind =", "[cmd]") {
  const Result<PerfOptions> options =
      ParsePerfOptions({"--backend", "cpu", "--op=alltoall", "--min", "1K",
                        "--max=2M", "--type", "bf16", "--check", "--registered",
                        "--iterations", "5", "--factor", "2"});
  REQUIRE(options.ok());
  CHECK(options.value().op == "alltoall");
  CHECK(options.value().min_bytes == 1024);
  CHECK(options.value().max_bytes == std::size_t{2} << 20U);
  CHECK(options.value().type == "bf16");
  CHECK(options.value().check);
  CHECK(options.value().registered);
  CHECK(options.value().iterations == 5);
  CHECK(options.value().factor == 2);
}

TEST_CASE("hvd-perf refuses what it cannot measure and says what it can",
          "[cmd]") {
  CHECK(Refused({"--op", "gather"}) ==
        "--op must be one of allreduce allgather reduce_scatter broadcast "
        "alltoall, got \"gather\"");
  CHECK(Refused({"--type", "f32 f64"}).find("--type must be one of") == 0);
  CHECK(Refused({"--min", "0"}).find("--min must be bytes") == 0);
  CHECK(Refused({"--max", "64T"}).find("--max must be bytes") == 0);
  CHECK(Refused({"--min", "2K", "--max", "1K"}) ==
        "--min 2048 is greater than --max 1024");
  CHECK(Refused({"--factor", "1"}) ==
        "--factor must be 2 to 1000000, got \"1\"");
  CHECK(Refused({"--iterations", "many"}).find("--iterations must be") == 0);
  CHECK(Refused({"--max"}) == "--max needs a value");
  CHECK(Refused({"--backend", "gpu"}) ==
        "--backend must be one of cpu, got \"gpu\"");
  CHECK(Refused({"--speed", "1"}) ==
        "unknown flag --speed; see hvd-perf --help");
}

TEST_CASE("hvd-perf finds a wrong element, whatever the type", "[cmd]") {
  for (const std::string type :
       {"u8", "i8", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    const PerfData data(type, "sum", 7);
    const std::size_t element = PerfElementSize(type);
    std::vector<std::byte> bytes(100 * element);
    data.Fill(bytes.data(), 0, 100);
    INFO(type);
    CHECK(data.WrongReduced(bytes.data(), 0, 100, 1) == 0);
    CHECK(data.WrongCopied(bytes.data(), 0, 0, 100) == 0);
    CHECK(data.WrongCopied(bytes.data() + 10 * element, 0, 10, 90) == 0);
    bytes[50 * element + element - 1] ^= std::byte{0x41};
    CHECK(data.WrongReduced(bytes.data(), 0, 100, 1) == 1);
    CHECK(data.WrongCopied(bytes.data(), 0, 0, 100) == 1);
  }
}

TEST_CASE("Times are those of the sorted sample", "[cmd]") {
  std::vector<double> sample;
  for (int i = 100; i > 0; --i) sample.push_back(i);
  const perf::Times times = perf::Summarize(sample);
  CHECK(times.min == 1);
  CHECK(times.median == 51);
  CHECK(times.p99 == 100);
  CHECK(times.mean == 50.5);
}

TEST_CASE("Bandwidths are those of nccl-tests", "[cmd]") {
  CHECK(BusFactor("allreduce", 4) == 1.5);
  CHECK(BusFactor("allgather", 4) == 0.75);
  CHECK(BusFactor("broadcast", 4) == 1);
  PerfResult result;
  result.times.mean = 1000;  // us
  SetBandwidths(result, "allreduce", 4, 8'000'000);
  CHECK(result.algbw == Approx(8));
  CHECK(result.busbw == Approx(12));
}

TEST_CASE("The table has a line a size and the JSON says the same", "[cmd]") {
  PerfOptions options;
  PerfRow row{1024, 256, {}, {}};
  row.in_place.times.min = 1.5;
  row.in_place.wrong = 3;
  CHECK(PerfLine(options, row)
            .find("        1024          256    f32      sum") == 0);
  const std::string json = PerfJson(options, 2, {row});
  CHECK(json.find("\"min_us\": 1.5") != std::string::npos);
  CHECK(json.find("\"wrong\": 3") != std::string::npos);
  CHECK(json.find("\"ranks\": 2") != std::string::npos);
}

}  // namespace hvd
