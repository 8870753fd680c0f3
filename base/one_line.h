// OneLine: text of somebody else, fit for a message of ours.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace hvd {

// Control characters become "?", and what is longer than `longest` bytes ends
// in "...".
std::string OneLine(std::string_view text, std::size_t longest = 200);

// The same in double quotes.
std::string Quoted(std::string_view text);

}  // namespace hvd
