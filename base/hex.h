// Hex: bytes as lower-case hexadecimal text, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hvd {

std::string ToHex(std::string_view bytes);
// nullopt unless `text` is an even number of hexadecimal digits.
std::optional<std::string> FromHex(std::string_view text);

}  // namespace hvd
