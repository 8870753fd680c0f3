// Names and sizes of what an array holds and how arrays are combined. The enums
// themselves are public: hvd/data_type.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "hvd/data_type.h"

namespace hvd {

inline constexpr int kDataTypes = 8;
inline constexpr int kReduceOps = 5;

std::size_t SizeOf(DataType type);     // bytes
std::string_view Name(DataType type);  // "f32"
std::string_view Name(ReduceOp op);    // "sum"
// The other way; nullopt: no such name.
std::optional<DataType> TypeNamed(std::string_view name);
std::optional<ReduceOp> OpNamed(std::string_view name);

// Whether sums of this type are made in f32: 16-bit floats.
bool IsNarrow(DataType type);

}  // namespace hvd
