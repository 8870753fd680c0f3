#include "collectives/kernel_loops.h"

namespace hvd {

constexpr KernelTable kBaselineKernels = MakeTable();

}  // namespace hvd
