#include "base/one_line.h"

#include <catch2/catch.hpp>

namespace hvd {

TEST_CASE("OneLine shows control characters as question marks", "[base]") {
  CHECK(OneLine("a\nb\x1b[31m\tc\x7f") == "a?b?[31m?c?");
  CHECK(OneLine("h\xc3\xb6st") == "h\xc3\xb6st");
}

TEST_CASE("OneLine cuts what is longer than it may be", "[base]") {
  CHECK(OneLine("12345", 5) == "12345");
  CHECK(OneLine("123456", 5) == "12345...");
  CHECK(Quoted(std::string(300, 'x')) == '"' + std::string(200, 'x') + "...\"");
}

}  // namespace hvd
