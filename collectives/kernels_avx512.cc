#include "collectives/kernel_loops.h"

namespace hvd {

const KernelTable& Avx512Kernels() {
  static constexpr KernelTable kTable = MakeTable();
  return kTable;
}

}  // namespace hvd
