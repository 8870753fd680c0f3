// Golden: a text compared with the file that holds what it should be.
#pragma once

#include <string>

namespace hvd::testing {

std::string ReadText(const std::string& path);

// The text of tests/golden/<name>. With HVD_REWRITE=1 in the environment
// `now` is written there first: read the difference before you commit it.
std::string Golden(const std::string& name, const std::string& now);

}  // namespace hvd::testing
