// ElasticSampler::Impl: what ElasticState needs of a sampler.
#pragma once

#include <hvd/elastic_sampler.h>

#include "worker/sampler_plan.h"

namespace hvd {

// Hidden: a part of an exported class would be exported too.
struct [[gnu::visibility("hidden")]] ElasticSampler::Impl {
  SamplerPlan plan;

  // Deals to the world that this process is in.
  void EnterWorld();
  SamplerPlan& Entered();
};

}  // namespace hvd
