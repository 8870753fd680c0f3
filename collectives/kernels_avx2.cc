#include "collectives/kernel_loops.h"

namespace hvd {

constexpr KernelTable kAvx2Kernels = MakeTable();

}  // namespace hvd
