// Pipe: to a child's stdin, or from its stdout, with an end of ours that never
// blocks.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

// Both close-on-exec.
struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

enum class OurEnd { kRead, kWrite };

// Our end is non-blocking; the flag belongs to that end alone, the child's
// stays as children expect it.
Result<Pipe> MakePipe(OurEnd ours);

using TakeBytes = std::function<void(std::string_view)>;

enum class PipeRead { kSome, kNothingNow, kEnd };

// Gives what one read() got to `take`.
PipeRead ReadOnce(int fd, const TakeBytes& take);

// What is in a pipe now; a writer who goes on writing is not waited for.
// Nothing of an invalid one.
void DrainPipe(int fd, const TakeBytes& take);

}  // namespace hvd
