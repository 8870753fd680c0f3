#include "base/one_line.h"

namespace hvd {

std::string OneLine(std::string_view text, std::size_t longest) {
  std::string out;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (text.size() > longest) out += "...";
  return out;
}

std::string Quoted(std::string_view text) { return '"' + OneLine(text) + '"'; }

}  // namespace hvd
