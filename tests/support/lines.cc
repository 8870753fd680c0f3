#include "tests/support/lines.h"

namespace hvd::testing {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

std::vector<std::string> Lines(std::string_view text) {
  return Split(text, '\n');
}

std::vector<std::string> LinesOf(std::string_view text,
                                 std::string_view prefix) {
  std::vector<std::string> found;
  for (const std::string& line : Lines(text)) {
    if (line.rfind(prefix, 0) == 0) found.push_back(line.substr(prefix.size()));
  }
  return found;
}

std::map<std::string, std::string> Variables(std::string_view text) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : Split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return variables;
}

}  // namespace hvd::testing
