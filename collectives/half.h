// 16-bit floats to f32 and back, one at a time, in plain arithmetic: what the
// instructions for it do, bit for bit, where a processor has them.
//
// Pure. To the nearest, ties to even; a NaN keeps what it can of its payload
// and becomes quiet.
#pragma once

#include <bit>
#include <cstdint>

#include "hvd/data_type.h"

namespace hvd {

inline float ToFloat(Bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16U);
}

inline Bfloat16 ToBfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >>
                                     16U)};
}

inline float ToFloat(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (value.bits >> 10U) & 0x1fU;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 0x1f) {
    const std::uint32_t quiet = fraction == 0 ? 0U : 0x400000U;
    return std::bit_cast<float>(sign | 0x7f800000U | quiet | fraction << 13U);
  }
  if (exponent == 0) {  // fraction * 2^-24, exact in f32
    const float small = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
  }
  return std::bit_cast<float>(sign | (exponent + 112U) << 23U |
                              fraction << 13U);
}

inline Float16 ToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto signed_bits = [sign](std::uint32_t rest) {
    return Float16{static_cast<std::uint16_t>(sign | rest)};
  };
  if (magnitude > 0x7f800000U) {
    return signed_bits(0x7e00U | ((magnitude >> 13U) & 0x3ffU));
  }
  if (magnitude >= 0x477ff000U) return signed_bits(0x7c00U);  // from 65520 on
  if (magnitude < 0x38800000U) {  // below 2^-14: a multiple of 2^-24
    // Adding 0.5 leaves the rounded multiple in the last bits of the sum.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return signed_bits(std::bit_cast<std::uint32_t>(sum) - 0x3f000000U);
  }
  const std::uint32_t odd = (magnitude >> 13U) & 1U;
  return signed_bits((magnitude - 0x38000000U + 0xfffU + odd) >> 13U);
}

}  // namespace hvd
