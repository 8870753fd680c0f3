#include "launcher/stderr_tail.h"

#include <algorithm>

namespace hvd {
namespace {

// What a terminal would show of "12%\r13%\r": the last that was written.
std::string_view LastForm(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t carriage = line.rfind('\r');
  if (carriage != std::string_view::npos) line.remove_prefix(carriage + 1);
  return line;
}

}  // namespace

void StderrTail::Append(std::string_view bytes) {
  // One byte more than is kept tells whether the first line is whole.
  constexpr std::size_t kKept = kMaxBytes + 1;
  if (bytes.size() >= kKept) {
    bytes_.assign(bytes.substr(bytes.size() - kKept));
    return;
  }
  bytes_.append(bytes);
  if (bytes_.size() >= 2 * kKept) bytes_.erase(0, bytes_.size() - kKept);
}

std::vector<std::string> StderrTail::Lines() const {
  std::string_view text = bytes_;
  if (text.size() > kMaxBytes) {
    text.remove_prefix(text.size() - kMaxBytes - 1);
    const std::size_t newline = text.find('\n');
    // A single line longer than all that is kept: its end.
    text.remove_prefix(newline == std::string_view::npos ? 1 : newline + 1);
  }
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    lines.emplace_back(LastForm(text.substr(0, newline)));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
  if (lines.size() > kMaxLines) {
    lines.erase(lines.begin(),
                lines.end() - static_cast<std::ptrdiff_t>(kMaxLines));
  }
  return lines;
}

}  // namespace hvd
