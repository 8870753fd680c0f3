// KernelTable: the kernels of one instruction set, made by kernel_loops.h.
#pragma once

#include <array>

#include "collectives/reduce_kernels.h"

namespace hvd {

// [form][type][op]
using KernelTable =
    std::array<std::array<std::array<Kernel, kReduceOps>, kDataTypes>,
               kKernelForms>;

const KernelTable& BaselineKernels();
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Kernels();

}  // namespace hvd
