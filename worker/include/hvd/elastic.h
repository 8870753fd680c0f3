// libhvd, elastic: training that goes on when workers die, come and go.
//
//   hvd::Init();
//   std::int64_t step = 0;
//   std::vector<float> weights(1000);
//   hvd::ElasticState state;
//   state.RegisterScalar(step);
//   state.RegisterVector(weights);
//   hvd::RunElastic(state, [&] {
//     while (step < 10000) {
//       Train(weights);  // with hvd::AllReduce
//       ++step;
//       if (step % 10 == 0) state.Commit();
//     }
//   });
//
// In a job without --min-np and --max-np, and without hvdrun, the same program
// runs its function once.
//
// Threads: as hvd.h; the thread that runs RunElastic makes all calls. All ranks
// register the same things in the same order, and make the same calls.
#pragma once

#include <hvd/elastic_sampler.h>
#include <hvd/hvd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hvd {

// The hosts of this job have changed: all ranks leave their world together and
// meet in the next one, with the state as it is. Thrown on all ranks by the
// same Commit or CheckHostUpdates; RunElastic catches it.
class HVD_API HostsUpdated : public std::runtime_error {
 public:
  HostsUpdated();
  ~HostsUpdated() override;
};

// Throws HostsUpdated on all ranks if one of them has heard that the hosts
// changed: where a world may end without the cost of a commit. A collective in
// elastic jobs. Throws CommError.
HVD_API void CheckHostUpdates();

// What a new worker must be given, and what a survivor goes back to. It refers
// to the registered things, which outlive it; it copies them when saved.
class HVD_API ElasticState {
 public:
  ElasticState();
  ~ElasticState();
  ElasticState(const ElasticState&) = delete;
  ElasticState& operator=(const ElasticState&) = delete;

  // ---- what belongs to it: before RunElastic --------------------------------

  // `count` elements, the same number on every rank.
  void RegisterArray(void* data, std::size_t count, DataType type);
  // Resized on a rank where it is shorter or longer than what it receives.
  void RegisterBytes(std::string& bytes);
  // For what is no plain memory. `save` returns it as bytes and changes
  // nothing; `load` takes what `save` returned, here or on another rank. What
  // they throw comes out of the call that needed them.
  void RegisterCustom(std::function<std::string()> save,
                      std::function<void(std::string_view)> load);
  // What of a data set is done. Makes Commit exchange that between the ranks.
  void RegisterSampler(ElasticSampler& sampler);

  // T is plain memory: numbers, and structs of them without pointers.
  template <class T>
  void RegisterScalar(T& value);
  template <class T>
  void RegisterArray(T* data, std::size_t count);
  // Resized as RegisterBytes.
  template <class T>
  void RegisterVector(std::vector<T>& values);

  // ---- in the training loop -------------------------------------------------

  // Saves the state, then throws HostsUpdated on all ranks if one of them has
  // heard that the hosts changed. A collective in elastic jobs and with a
  // sampler. Throws CommError: a rank may then have saved what others have not,
  // which Sync makes good.
  void Commit();
  // Copies the state into this process's memory. No collective.
  void Save();
  // Back to what was saved or synced last; nothing if nothing was.
  void Restore();
  // Gives all ranks the state of the oldest, and saves it: that is the lowest
  // rank that has been through a Sync, rank 0 in the first world. A collective.
  // Throws CommError; std::invalid_argument on a rank that has registered other
  // things.
  void Sync();

 private:
  friend void CheckHostUpdates();
  struct Impl;

  // One registered thing: its bytes as they are now, and how to set them.
  void RegisterPiece(std::function<std::string_view()> view,
                     std::function<void(std::string_view)> load);
  // Throws std::invalid_argument unless both sizes are the same.
  static void CheckSize(std::size_t has, std::size_t received);

  std::unique_ptr<Impl> impl_;
};

enum class ElasticEnd {
  kFinished,  // the function has returned
  kRemoved,   // this worker is not wanted any more: exit with 0
};

// Calls Init if need be, syncs `state`, and runs `fn`. When a rank failed
// (CommError) the last commit is restored; when the hosts changed
// (HostsUpdated) the state is kept; then this worker joins the next world,
// syncs, and runs `fn` again, which goes on from the state. Everything else
// that `fn` throws passes, and so does a CommError in a job that isn't elastic,
// or over ranks that made different calls. Throws std::runtime_error: hvdrun
// cannot be reached, or the next world does not come about. Rank(), Size(),
// Epoch() and the like change with the world; other threads may ask meanwhile
// and get one world's or the next one's number.
HVD_API ElasticEnd RunElastic(ElasticState& state,
                              const std::function<void()>& fn);

// ---- templates --------------------------------------------------------------

template <class T>
void ElasticState::RegisterScalar(T& value) {
  RegisterArray(&value, 1);
}

template <class T>
void ElasticState::RegisterArray(T* data, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t size = count * sizeof(T);
  RegisterPiece(
      [data, size] {
        return std::string_view(reinterpret_cast<const char*>(data), size);
      },
      [data, size](std::string_view bytes) {
        CheckSize(size, bytes.size());
        if (size > 0) std::memcpy(data, bytes.data(), size);
      });
}

template <class T>
void ElasticState::RegisterVector(std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  RegisterPiece(
      [&values] {
        return std::string_view(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(T));
      },
      [&values](std::string_view bytes) {
        values.resize(bytes.size() / sizeof(T));
        CheckSize(values.size() * sizeof(T), bytes.size());
        if (!bytes.empty()) {
          std::memcpy(values.data(), bytes.data(), bytes.size());
        }
      });
}

}  // namespace hvd
