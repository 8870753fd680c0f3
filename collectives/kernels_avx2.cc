#include "collectives/kernel_loops.h"

namespace hvd {

const KernelTable& Avx2Kernels() {
  static constexpr KernelTable kTable = MakeTable();
  return kTable;
}

}  // namespace hvd
