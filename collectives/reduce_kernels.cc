#include "collectives/reduce_kernels.h"

#include "base/check.h"
#include "collectives/kernel_table.h"

#ifdef HVD_X86_KERNELS
#include <cpuid.h>
#endif

namespace hvd {
namespace {

#ifdef HVD_X86_KERNELS
// The compilers' own question does not know the name of this one.
bool HasF16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

const KernelTable* TableOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::kBaseline:
      return &BaselineKernels();
#ifdef HVD_X86_KERNELS
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && HasF16c() ? &Avx2Kernels()
                                                         : nullptr;
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") &&
                     __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl")
                 ? &Avx512Kernels()
                 : nullptr;
#else
    case InstructionSet::kAvx2:
    case InstructionSet::kAvx512:
      return nullptr;
#endif
  }
  HVD_CHECK(false);
}

InstructionSet FindBest() {
  for (const auto set : {InstructionSet::kAvx512, InstructionSet::kAvx2}) {
    if (TableOf(set) != nullptr) return set;
  }
  return InstructionSet::kBaseline;
}

Kernel At(const KernelTable& table, KernelForm form, DataType type,
          ReduceOp op) {
  return table[static_cast<std::size_t>(form)][static_cast<std::size_t>(type)]
              [static_cast<std::size_t>(op)];
}

}  // namespace

Kernel KernelOf(InstructionSet set, KernelForm form, DataType type,
                ReduceOp op) {
  const KernelTable* table = TableOf(set);
  return table == nullptr ? nullptr : At(*table, form, type, op);
}

InstructionSet BestInstructionSet() {
  static const InstructionSet best = FindBest();
  return best;
}

std::string_view Name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  HVD_CHECK(false);
}

void Reduce(KernelForm form, void* out, std::span<const void* const> in,
            std::size_t count, DataType type, ReduceOp op, Divisor divisor) {
  static const KernelTable& best = *TableOf(BestInstructionSet());
  At(best, form, type, op)(out, in.data(), in.size(), count, divisor);
}

std::size_t OutputSize(KernelForm form, DataType type) {
  return form == KernelForm::kWiden && IsNarrow(type) ? sizeof(float)
                                                      : SizeOf(type);
}

}  // namespace hvd
