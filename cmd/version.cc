#include "cmd/version.h"

namespace hvd {

std::string_view Version() { return HVD_VERSION; }

}  // namespace hvd
