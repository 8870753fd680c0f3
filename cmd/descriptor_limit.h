// How many descriptors hvdrun may have, and how many a job needs.
#pragma once

#include <sys/resource.h>

#include "base/result.h"

namespace hvd {

// Two pipes a worker and their files, sockets of its clients, and our own.
std::size_t DescriptorsFor(int workers, bool with_files);

// Raises this process's soft limit to `needed` or as far as the hard limit
// allows. Gives back the limit as it was, which workers get. kInvalidArgument
// when the hard limit is too low: both numbers and what to do.
Result<rlimit> RaiseDescriptorLimit(std::size_t needed);

// For who does not know yet how many workers there will be: plenty, or as far
// as the hard limit allows. The limit as it was.
rlimit RaiseDescriptorLimitFarEnough();

}  // namespace hvd
