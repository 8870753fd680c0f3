// Help text: what --help prints, made from the flag and exit code tables.
//
// Pure. tests/golden/help.txt holds it, docs/cli.md contains it.
#pragma once

#include <string>

namespace hvd {

std::string HelpText();

}  // namespace hvd
