// Reduce kernels: the arithmetic of collectives, element by element.
//
// Pure. Any number of arrays is combined in one pass, in the order given, and
// every element is written once; pointers need no alignment. Integer sums and
// products wrap; integer averages are cut toward zero. In min and max a NaN
// wins over any number. 16-bit floats are combined in f32 and rounded to the
// nearest (ties to even) when they are stored.
//
// There is one set of kernels for each instruction set; they give the same
// bits, for none of them fuses a product with a sum. The best one this
// processor has is found out once.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/data_type.h"

namespace hvd {

// Divides what kAverage has summed; 1: not yet, or there is nothing to divide.
using Divisor = int;

enum class KernelForm {
  kPlain,  // elements in, elements out
  // What one host has to say of 16-bit floats, not yet rounded. For the other
  // types the same as kPlain.
  kWiden,  // elements in, f32 out
  kJoin,   // the first array is f32, the others and the output are elements
};
inline constexpr int kKernelForms = 3;

// out[i] = in[0][i] op in[1][i] op ...; `out` may be one of them. One array
// alone is converted and divided.
using Kernel = void (*)(void* out, const void* const* in, std::size_t arrays,
                        std::size_t count, Divisor divisor);

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// Null where this build or processor has no such set.
Kernel KernelOf(InstructionSet set, KernelForm form, DataType type,
                ReduceOp op);
InstructionSet BestInstructionSet();
std::string_view Name(InstructionSet set);

// With the best set.
void Reduce(KernelForm form, void* out, std::span<const void* const> in,
            std::size_t count, DataType type, ReduceOp op, Divisor divisor = 1);
// Bytes of one element of what `form` puts out.
std::size_t OutputSize(KernelForm form, DataType type);

}  // namespace hvd
