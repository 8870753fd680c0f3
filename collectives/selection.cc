#include "collectives/selection.h"

#include <array>
#include <charconv>
#include <string>

namespace hvd {
namespace {

struct Row {
  std::string_view name;
  std::size_t Selection::*value;
  std::size_t least;
  std::size_t most;
};

// The slots of the shared memory hold one_shot at most; see local_segment.h.
constexpr std::array kRows{
    Row{"one_shot", &Selection::one_shot, 0, std::size_t{16} << 10U},
    Row{"chunk", &Selection::chunk, std::size_t{4} << 10U,
        std::size_t{16} << 20U},
    Row{"block", &Selection::block, std::size_t{1} << 10U,
        std::size_t{1} << 20U},
    Row{"stream", &Selection::stream, 0, std::size_t{1} << 40U},
    Row{"doubling", &Selection::doubling, 0, std::size_t{1} << 20U},
    Row{"slab", &Selection::slab, std::size_t{64} << 10U,
        std::size_t{1} << 30U},
};

// "8K"; nullopt-like: false.
bool ParseBytes(std::string_view text, std::size_t& bytes) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{}) return false;
  const std::string_view unit =
      text.substr(static_cast<std::size_t>(end - text.data()));
  const unsigned shift = unit == "K" ? 10U : unit == "M" ? 20U : 0U;
  if (!unit.empty() && shift == 0) return false;
  if (bytes > (std::size_t{1} << 40U)) return false;
  bytes <<= shift;
  return true;
}

Status SetRow(Selection& table, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  for (const Row& row : kRows) {
    if (row.name != name || equals == std::string_view::npos) continue;
    std::size_t bytes = 0;
    if (!ParseBytes(word.substr(equals + 1), bytes) || bytes < row.least ||
        bytes > row.most) {
      return Error(ErrorCode::kInvalidArgument,
                   std::string(name) + " must be " + std::to_string(row.least) +
                       " to " + std::to_string(row.most) +
                       " (bytes, or with K or M), "
                       "got \"" +
                       std::string(word.substr(equals + 1)) + '"');
    }
    table.*row.value = bytes;
    return Done{};
  }
  std::string names;
  for (const Row& row : kRows) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return Error(
      ErrorCode::kInvalidArgument,
      "\"" + std::string(word) + "\" must be NAME=BYTES with one of " + names);
}

}  // namespace

Result<Selection> ParseSelection(std::string_view text) {
  Selection table;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (Status s = SetRow(table, text.substr(0, comma)); !s.ok()) {
      return std::move(s).error();
    }
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return table;
}

std::uint32_t HashOf(const Selection& table) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const Row& row : kRows) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ ((table.*row.value >> shift) & 0xffU)) * 0x100000001b3ULL;
    }
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U)) | 1U;
}

}  // namespace hvd
