// Reduce kernels: the arithmetic of collectives, element by element.
//
// Pure. Integer sums wrap. In min and max a NaN wins over any number. Pointers
// are aligned for their type.
#pragma once

#include <cstddef>

#include "collectives/data_type.h"

namespace hvd {

// out[i] = a[i] op b[i]; `out` may be `a` or `b`. kAverage adds: divide once,
// at the end.
void Combine(void* out, const void* a, const void* b, std::size_t count,
             DataType type, ReduceOp op);

// data[i] = data[i] / parts; integers are cut toward zero.
void Divide(void* data, std::size_t count, DataType type, int parts);

}  // namespace hvd
