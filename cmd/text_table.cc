#include "cmd/text_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hvd {
namespace {

// Bytes that continue a character of UTF-8 take no place of their own.
std::size_t Width(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(
      cell.begin(), cell.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string TextTable(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      blanks += 2;
      if (!row[i].empty()) {
        text.append(std::exchange(blanks, 0), ' ').append(row[i]);
      }
      blanks += widths[i] - Width(row[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace hvd
