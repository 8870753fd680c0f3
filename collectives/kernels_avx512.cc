#include "collectives/kernel_loops.h"

namespace hvd {

constexpr KernelTable kAvx512Kernels = MakeTable();

}  // namespace hvd
