// Lines: a program's output, taken apart the way its reader sees it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hvd::testing {

// Without their newlines; a last line that has none counts too.
std::vector<std::string> Lines(std::string_view text);

// What follows `prefix` in each line that begins with it: LinesOf(out,
// "[1]<stdout>:") is what rank 1 wrote.
std::vector<std::string> LinesOf(std::string_view text,
                                 std::string_view prefix);

// What `env -0` printed.
std::map<std::string, std::string> Variables(std::string_view text);

}  // namespace hvd::testing
