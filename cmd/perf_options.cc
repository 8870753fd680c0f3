#include "cmd/perf_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

namespace hvd {
namespace {

Error Wrong(std::string_view flag, std::string_view must,
            std::string_view got) {
  return {ErrorCode::kInvalidArgument, std::string(flag) + " must be " +
                                           std::string(must) + ", got \"" +
                                           std::string(got) + '"'};
}

// "64M"; nullopt: not a size.
std::optional<std::size_t> ParseSize(std::string_view text) {
  std::size_t bytes = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(
      end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned shift = 0;
  if (unit == "K") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if ((!unit.empty() && shift == 0) || bytes > (std::size_t{1} << 34U)) {
    return std::nullopt;
  }
  return bytes << shift;
}

Status SetSize(std::size_t& value, std::string_view flag,
               std::string_view text) {
  const std::optional<std::size_t> bytes = ParseSize(text);
  if (!bytes || *bytes == 0) {
    return Wrong(flag, "bytes, 1 or more, with K, M or G if you like", text);
  }
  value = *bytes;
  return Done{};
}

Status SetWord(std::string& value, std::string_view flag,
               std::string_view allowed, std::string_view text) {
  const std::string padded = ' ' + std::string(allowed) + ' ';
  if (text.empty() || text.find(' ') != std::string_view::npos ||
      padded.find(' ' + std::string(text) + ' ') == std::string::npos) {
    return Wrong(flag, "one of " + std::string(allowed), text);
  }
  value = text;
  return Done{};
}

Status SetCount(std::size_t& value, std::string_view flag, std::size_t least,
                std::string_view text) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() ||
      value < least || value > 1'000'000) {
    return Wrong(flag, std::to_string(least) + " to 1000000", text);
  }
  return Done{};
}

Status SetValue(PerfOptions& options, std::string_view flag,
                std::string_view text) {
  if (flag == "--op") {
    return SetWord(options.op, flag,
                   "allreduce allgather reduce_scatter broadcast alltoall",
                   text);
  }
  if (flag == "--type") {
    return SetWord(options.type, flag, "u8 i8 i32 i64 f16 bf16 f32 f64", text);
  }
  if (flag == "--reduce") {
    return SetWord(options.reduction, flag, "sum average min max product",
                   text);
  }
  if (flag == "--backend") {
    std::string backend;
    return SetWord(backend, flag, "cpu", text);
  }
  if (flag == "--min") return SetSize(options.min_bytes, flag, text);
  if (flag == "--max") return SetSize(options.max_bytes, flag, text);
  if (flag == "--factor") return SetCount(options.factor, flag, 2, text);
  if (flag == "--iterations") {
    std::size_t count = 0;
    Status s = SetCount(count, flag, 1, text);
    if (s.ok()) options.iterations = static_cast<int>(count);
    return s;
  }
  if (flag == "--json") {
    if (text.empty()) return Wrong(flag, "a file name", text);
    options.json_file = text;
    return Done{};
  }
  return Error(ErrorCode::kInvalidArgument,
               "unknown flag " + std::string(flag) + "; see hvd-perf --help");
}

}  // namespace

Result<PerfOptions> ParsePerfOptions(const std::vector<std::string>& words) {
  PerfOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--registered") {
      options.registered = true;
    } else {
      const std::size_t equals = word.find('=');
      std::string_view value;
      if (equals != std::string_view::npos) {
        value = word.substr(equals + 1);
      } else if (i + 1 < words.size()) {
        value = words[++i];
      } else if (word.substr(0, 2) == "--") {
        return Error(ErrorCode::kInvalidArgument,
                     std::string(word) + " needs a value");
      }
      if (Status s = SetValue(options, word.substr(0, equals), value);
          !s.ok()) {
        return std::move(s).error();
      }
    }
  }
  if (options.min_bytes > options.max_bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "--min " + std::to_string(options.min_bytes) +
                     " is greater than --max " +
                     std::to_string(options.max_bytes));
  }
  return options;
}

std::string_view PerfHelp() {
  return "usage: hvdrun -np N hvd-perf [FLAG...]\n"
         "\n"
         "Times one collective for a range of sizes. Every operation is timed "
         "by\n"
         "itself after a barrier, its input rewritten before; a time is that "
         "of the\n"
         "slowest rank. Rank 0 prints the table.\n"
         "\n"
         "  --op OP          allreduce (default), allgather, reduce_scatter, "
         "broadcast,\n"
         "                   alltoall\n"
         "  --type TYPE      u8 i8 i32 i64 f16 bf16 f32 (default) f64\n"
         "  --reduce OP      sum (default), average, min, max, product\n"
         "  --min BYTES      the smallest size (default 4)\n"
         "  --max BYTES      the largest size (default 64M)\n"
         "  --factor N       from one size to the next (default 4)\n"
         "  --iterations N   operations to time (default: as the size asks "
         "for)\n"
         "  --check          compare results of random data with a computation "
         "on\n"
         "                   one rank; exits with 1 if an element is wrong\n"
         "  --registered     arrays in memory that the other ranks can reach\n"
         "                   (hvd::Alloc)\n"
         "  --json FILE      what the table says, as JSON\n"
         "  --backend cpu    where the arrays are; there is one today\n"
         "\n"
         "algbw and busbw are those of nccl-tests: size / time, and that times "
         "what a\n"
         "rank must move for it: 2(n-1)/n for allreduce, 1 for broadcast, "
         "(n-1)/n\n"
         "else. Size is what an allreduce or a broadcast reduces or sends, and "
         "for the\n"
         "others the whole of all ranks' parts.\n";
}

}  // namespace hvd
