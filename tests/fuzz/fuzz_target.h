// The entry that libFuzzer and the replay program call.
#pragma once

#include <cstddef>
#include <cstdint>

// Returns 0; a finding is a crash, a sanitizer's report or a failed HVD_CHECK.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);
