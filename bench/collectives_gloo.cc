// collectives_gloo: all of Gloo's allreduce algorithms in hvd-perf's loop, one
// JSON line a size and algorithm.
//
// usage: hvdrun -np N collectives_gloo DIRECTORY f32|f16 MIN MAX FACTOR
//
// DIRECTORY is empty and shared: Gloo's ranks meet in its files.
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cmd/perf_loop.h"

namespace {

using Context = std::shared_ptr<gloo::Context>;

// One thread, before gloo makes more.
// NOLINTBEGIN(concurrency-mt-unsafe)
int FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) {
    std::fprintf(stderr, "collectives_gloo: start it with hvdrun\n");
    std::exit(2);
  }
  return std::atoi(value);
}
// NOLINTEND(concurrency-mt-unsafe)

template <class T>
void AllReduceNow(const Context& context, T* data, std::size_t count,
                  gloo::AllreduceOptions::Algorithm algorithm,
                  gloo::AllreduceOptions::Func sum) {
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(algorithm);
  options.setReduceFunction(std::move(sum));
  options.setOutput(data, count);
  gloo::allreduce(options);
}

struct World {
  void Barrier() const {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
  }
  void MaxOverRanks(double* values, std::size_t count) const {
    AllReduceNow<double>(context, values, count,
                         gloo::AllreduceOptions::Algorithm::RING,
                         [](void* c, const void* a, const void* b,
                            std::size_t n) { gloo::max<double>(c, a, b, n); });
  }
  Context context;
};

template <class T>
class Bench {
 public:
  explicit Bench(World& world) : world_(world) {}

  void Run(std::size_t bytes) {
    std::vector<T> data(bytes / sizeof(T));
    const auto function = [](void* c, const void* a, const void* b,
                             std::size_t n) { gloo::sum<T>(c, a, b, n); };
    const auto now = [&](gloo::AllreduceOptions::Algorithm algorithm) {
      return [&, algorithm] {
        AllReduceNow<T>(world_.context, data.data(), data.size(), algorithm,
                        function);
      };
    };
    Time("ring", data, now(gloo::AllreduceOptions::Algorithm::RING));
    Time("bcube", data, now(gloo::AllreduceOptions::Algorithm::BCUBE));
    TimeClass<gloo::AllreduceRing<T>>("old ring", data);
    TimeClass<gloo::AllreduceRingChunked<T>>("chunked ring", data);
    TimeClass<gloo::AllreduceHalvingDoubling<T>>("halving doubling", data);
  }

 private:
  template <class Algorithm>
  void TimeClass(const char* name, std::vector<T>& data) {
    Algorithm algorithm(world_.context, {data.data()},
                        static_cast<int>(data.size()));
    Time(name, data, [&] { algorithm.run(); });
  }

  template <class Operation>
  void Time(const char* name, std::vector<T>& data,
            const Operation& operation) {
    const std::size_t bytes = data.size() * sizeof(T);
    // Gloo is slow enough for fewer.
    const int iterations = std::max(hvd::perf::IterationsFor(bytes) / 4, 5);
    const auto times =
        hvd::perf::Measure(world_, data.data(), bytes, iterations, operation);
    if (world_.context->rank != 0) return;
    std::printf(
        "{\"way\": \"gloo %s\", \"bytes\": %zu, \"min\": %.3f, "
        "\"median\": %.3f}\n",
        name, bytes, times.min, times.median);
    std::fflush(stdout);
  }

  World& world_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: collectives_gloo DIRECTORY f32|f16 MIN MAX FACTOR\n",
               stderr);
    return 2;
  }
  const int rank = FromEnvironment("HVD_RANK");
  const int size = FromEnvironment("HVD_SIZE");
  gloo::transport::tcp::attr where;
  where.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(where);
  gloo::rendezvous::FileStore store(argv[1]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  World world{context};
  const bool half = std::string(argv[2]) == "f16";
  const std::size_t max = std::strtoull(argv[4], nullptr, 10);
  const std::size_t factor = std::strtoull(argv[5], nullptr, 10);
  for (std::size_t bytes = std::strtoull(argv[3], nullptr, 10); bytes <= max;
       bytes *= factor) {
    if (half) {
      Bench<gloo::float16>(world).Run(bytes);
    } else {
      Bench<float>(world).Run(bytes);
    }
  }
}
