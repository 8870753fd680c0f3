#include "base/shell_quote.h"

#include <algorithm>
#include <cctype>

namespace hvd {
namespace {

bool IsPlain(char c) {
  constexpr std::string_view kPlainMarks = "%+,-./:=@_";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kPlainMarks.find(c) != std::string_view::npos;
}

}  // namespace

std::string ShellQuote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) {
    return std::string(word);
  }
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out += '\'';
}

}  // namespace hvd
