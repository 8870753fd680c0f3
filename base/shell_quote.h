// ShellQuote: a word that a shell reads back as exactly that word, and the way
// back.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hvd {

// Plain words stay as they are, so that what a person reads stays readable.
// Every login shell that hosts have agrees on the result, csh and fish
// included: what they read differently within quotes stands outside of them. A
// newline is beyond csh.
std::string ShellQuote(std::string_view word);

// The same for several words, with blanks between.
std::string ShellQuote(const std::vector<std::string>& words);

// The words that a shell would see in `text`: blanks part them, quotes and
// backslashes keep them together. Nothing is expanded. kInvalidArgument: a
// quote that is not closed.
Result<std::vector<std::string>> SplitShellWords(std::string_view text);

}  // namespace hvd
