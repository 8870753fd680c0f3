// Link plan: in which order the links of a ring are measured, so that none
// disturbs another: no machine has a part in two at once.
//
// Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace hvd {

// Link i leads from machine i to the next, the last one to the first; `size`
// machines have as many, one machine none. Each round is measured at once, the
// rounds one after the other: two of them, or three if `size` is odd.
std::vector<std::vector<std::size_t>> PlanLinks(std::size_t size);

}  // namespace hvd
