// Names and sizes of what an array holds and how arrays are combined. The enums
// themselves are public: hvd/data_type.h.
#pragma once

#include <cstddef>
#include <string_view>

#include "hvd/data_type.h"

namespace hvd {

std::size_t SizeOf(DataType type);     // bytes
std::string_view Name(DataType type);  // "f32"
std::string_view Name(ReduceOp op);    // "sum"

}  // namespace hvd
