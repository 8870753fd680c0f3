// Base64 (RFC 4648, the standard alphabet, padded). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hvd {

// nullopt: not base64. Line breaks are not skipped, and bits that padding
// leaves over must be 0: each value has one spelling.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace hvd
