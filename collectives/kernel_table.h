// KernelTable: the kernels of one instruction set, made by kernel_loops.h.
#pragma once

#include <array>

#include "collectives/reduce_kernels.h"

namespace hvd {

// [form][type][op]
using KernelTable =
    std::array<std::array<std::array<Kernel, kReduceOps>, kDataTypes>,
               kKernelForms>;

extern const KernelTable kBaselineKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;

}  // namespace hvd
