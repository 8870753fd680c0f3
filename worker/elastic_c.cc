#include <hvd/elastic.h>
#include <hvd/hvd_c.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "worker/c_call.h"

struct hvd_state {
  hvd::ElasticState state;
};

struct hvd_sampler {
  hvd_sampler(size_t samples, uint64_t seed, hvd::SampleOrder order)
      : sampler(samples, seed, order) {}
  hvd::ElasticSampler sampler;
};

namespace {

using hvd::Guard;

template <class T>
T& Given(T* pointer, const char* name) {
  if (pointer != nullptr) return *pointer;
  throw std::invalid_argument(std::string(name) + " must not be NULL");
}

void CheckCallback(const char* name, int returned) {
  if (returned == 0) return;
  throw std::runtime_error(std::string(name) + " returned " +
                           std::to_string(returned));
}

// A code on its way through RunElastic.
class OtherFailure : public std::exception {
 public:
  explicit OtherFailure(int code) : code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// What the user's function returned, as what RunElastic catches. The thread's
// last error stays the one of the call that failed in it.
void ThrowCode(int code) {
  switch (code) {
    case 0:
      return;
    case HVD_ERR_COMM: {
      const hvd::LastError& last = hvd::ThreadLastError();
      throw hvd::CommError(last.rank, last.text);
    }
    case HVD_ERR_HOSTS_UPDATED:
      throw hvd::HostsUpdated();
    default:
      throw OtherFailure(code);
  }
}

int RunElastic(hvd::ElasticState& state, int (*fn)(void*), void* user) {
  try {
    const hvd::ElasticEnd end =
        hvd::RunElastic(state, [=] { ThrowCode(fn(user)); });
    return end == hvd::ElasticEnd::kRemoved ? HVD_REMOVED : 0;
  } catch (const OtherFailure& other) {
    if (other.code() < 0) return other.code();
    throw std::invalid_argument(
        "the function of hvd_run_elastic must return 0 or a negative code, "
        "got " +
        std::to_string(other.code()));
  }
}

template <class Call>
int Done(const Call& call) noexcept {
  return Guard([&] {
    call();
    return 0;
  });
}

}  // namespace

extern "C" {

int hvd_state_create(hvd_state** state) {
  return Done([=] {
    hvd_state*& made = Given(state, "state");
    made = std::make_unique<hvd_state>().release();
  });
}

int hvd_state_destroy(hvd_state* state) {
  const std::unique_ptr<hvd_state> owned(state);
  return 0;
}

int hvd_register_array(hvd_state* state, void* data, size_t count, int type) {
  return Done([=] {
    Given(state, "state").state.RegisterArray(data, count, hvd::TypeFrom(type));
  });
}

int hvd_register_memory(hvd_state* state, void* data, size_t length) {
  return Done([=] {
    Given(state, "state").state.RegisterArray(static_cast<char*>(data), length);
  });
}

int hvd_register_custom(hvd_state* state, hvd_save_fn save, hvd_load_fn load,
                        void* user) {
  return Done([=] {
    Given(save, "save");
    Given(load, "load");
    Given(state, "state")
        .state.RegisterCustom(
            [=] {
              const void* bytes = nullptr;
              size_t length = 0;
              CheckCallback("save", save(user, &bytes, &length));
              return std::string(static_cast<const char*>(bytes), length);
            },
            [=](std::string_view bytes) {
              CheckCallback("load", load(user, bytes.data(), bytes.size()));
            });
  });
}

int hvd_register_sampler(hvd_state* state, hvd_sampler* sampler) {
  return Done([=] {
    Given(state, "state")
        .state.RegisterSampler(Given(sampler, "sampler").sampler);
  });
}

int hvd_commit(hvd_state* state) {
  return Done([=] { Given(state, "state").state.Commit(); });
}
int hvd_save(hvd_state* state) {
  return Done([=] { Given(state, "state").state.Save(); });
}
int hvd_restore(hvd_state* state) {
  return Done([=] { Given(state, "state").state.Restore(); });
}
int hvd_sync(hvd_state* state) {
  return Done([=] { Given(state, "state").state.Sync(); });
}
int hvd_check_host_updates(void) { return Done(hvd::CheckHostUpdates); }

int hvd_run_elastic(hvd_state* state, int (*fn)(void* user), void* user) {
  return Guard([=] {
    Given(fn, "fn");
    return RunElastic(Given(state, "state").state, fn, user);
  });
}

int hvd_sampler_create(size_t samples, uint64_t seed, int shuffled,
                       hvd_sampler** sampler) {
  return Done([=] {
    const hvd::SampleOrder order =
        shuffled != 0 ? hvd::SampleOrder::kShuffled : hvd::SampleOrder::kAsIs;
    hvd_sampler*& made = Given(sampler, "sampler");
    made = std::make_unique<hvd_sampler>(samples, seed, order).release();
  });
}

int hvd_sampler_destroy(hvd_sampler* sampler) {
  const std::unique_ptr<hvd_sampler> owned(sampler);
  return 0;
}

int hvd_sampler_set_epoch(hvd_sampler* sampler, uint64_t epoch) {
  return Done([=] { Given(sampler, "sampler").sampler.SetEpoch(epoch); });
}

int hvd_sampler_next(hvd_sampler* sampler, size_t limit, size_t* samples,
                     size_t* count) {
  return Done([=] {
    const auto next = Given(sampler, "sampler").sampler.Next(limit);
    if (!next.empty()) {
      std::copy(next.begin(), next.end(), &Given(samples, "samples"));
    }
    Given(count, "count") = next.size();
  });
}

int hvd_sampler_record_batch(hvd_sampler* sampler, size_t count) {
  return Done([=] { Given(sampler, "sampler").sampler.RecordBatch(count); });
}

int hvd_sampler_steps(hvd_sampler* sampler, size_t batch, size_t* steps) {
  return Done([=] {
    Given(steps, "steps") = Given(sampler, "sampler").sampler.Steps(batch);
  });
}

}  // extern "C"
