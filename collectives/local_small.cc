
#include "collectives/copy_bytes.h"
#include "collectives/local_calls.h"

namespace hvd {

bool FitsSlot(std::size_t bytes) { return bytes <= kSlotBytes; }

void EnterWithSlot(LocalGroup& group, const void* data, std::size_t bytes) {
  if (bytes <= Entry::kSmall) {
    group.EnterWithSmall(data, bytes);
    return;
  }
  CopyBytes(group.segment().slot(group.local(), group.operation()), data,
            bytes);
  group.EnterWithSmall(nullptr, 0);
}

const std::byte* SlotOf(const LocalGroup& group, int local, std::size_t bytes) {
  if (bytes <= Entry::kSmall) return group.EntryOf(local).small.data();
  return group.segment().slot(local, group.operation());
}

Status LocalReduceSmall(LocalGroup& group, const Reduction& what,
                        KernelForm form) {
  const std::size_t bytes = what.count * SizeOf(what.type);
  EnterWithSlot(group, what.in, bytes);
  if (Status s = group.AwaitEntries(); !s.ok()) return s;
  if (what.count == 0) return Done{};
  std::vector<const void*>& arrays = group.arrays();
  for (int local = 0; local < group.size(); ++local) {
    arrays[static_cast<std::size_t>(local)] = SlotOf(group, local, bytes);
  }
  Reduce(form, what.out, arrays, what.count, what.type, what.op, what.divisor);
  return Done{};
}

}  // namespace hvd
