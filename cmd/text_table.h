// Text table: rows of cells as lines whose columns stand below each other.
//
// Pure.
#pragma once

#include <string>
#include <vector>

namespace hvd {

using TableRow = std::vector<std::string>;

// Lines of two blanks, then cells two blanks apart, without blanks at the end.
// A row may have fewer cells than others; a column without any text takes no
// place.
std::string TextTable(const std::vector<TableRow>& rows);

}  // namespace hvd
