#include "cmd/text_table.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("the columns of a table stand below each other", "[cmd]") {
  CHECK(TextTable({{"#", "host"}, {"10", "b"}, {"", "long name", "x"}}) ==
        "  #   host\n"
        "  10  b\n"
        "      long name  x\n");
}

TEST_CASE("a column without any text takes no place", "[cmd]") {
  CHECK(TextTable({{"a", "", "c"}, {"d", "", "f"}}) == "  a  c\n  d  f\n");
  CHECK(TextTable({{""}, {}}) == "\n\n");
}

TEST_CASE("a letter of several bytes is one letter wide", "[cmd]") {
  CHECK(TextTable({{"ä", "x"}, {"bb", "x"}}) == "  ä   x\n  bb  x\n");
}

}  // namespace hvd
