// ElasticState::Impl: a state and what the ranks tell each other about it.
#pragma once

#include <hvd/elastic.h>

#include <vector>

#include "worker/sampler_access.h"
#include "worker/state_memory.h"

namespace hvd {

// Hidden: a part of an exported class would be exported too.
struct [[gnu::visibility("hidden")]] ElasticState::Impl {
  StateMemory memory;
  std::vector<ElasticSampler::Impl*> samplers;
  bool synced = false;  // it was all ranks' state once

  // All ranks get what the oldest has saved.
  void ShareFromOldest(int rank, int size);
  // All ranks learn what each has recorded, and whether one has heard that the
  // hosts changed; nothing if that cannot be.
  bool Exchange();
};

}  // namespace hvd
