// RandomBytes: what the kernel's generator gives, for keys and nonces.
#pragma once

#include <cstddef>
#include <string>

namespace hvd {

std::string RandomBytes(std::size_t count);

}  // namespace hvd
