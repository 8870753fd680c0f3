// MakeSoloContext: a worker that hvdrun did not start is a world of one.
#pragma once

#include <memory>

#include "worker/context.h"

namespace hvd {

std::unique_ptr<Context> MakeSoloContext();

}  // namespace hvd
