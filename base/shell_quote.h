// ShellQuote: a word that a POSIX shell reads back as exactly that word.
#pragma once

#include <string>
#include <string_view>

namespace hvd {

// Plain words stay as they are, so that what a person reads stays readable.
std::string ShellQuote(std::string_view word);

}  // namespace hvd
