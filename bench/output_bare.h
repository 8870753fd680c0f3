// RunBareLoop: the least that splits and tags the output of some workers.
//
// One thread: poll, read, memchr, append, write. No partial lines shown, no
// bound but the reader, no order kept between streams: what the output bench
// holds hvdrun against.
#pragma once

#include <string>

namespace hvd::bench {

// Runs `program worker RANK HOW LINES` for each rank, their stdouts tagged to
// ours. An exit code.
int RunBareLoop(const std::string& program, int workers, const std::string& how,
                const std::string& lines);

}  // namespace hvd::bench
