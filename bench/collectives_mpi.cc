// collectives_mpi: MPI_Allreduce in hvd-perf's loop, one JSON line a size.
//
// usage: mpirun -np N collectives_mpi MIN MAX FACTOR
#define OMPI_SKIP_MPICXX 1  // the C interface only
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cmd/perf_loop.h"

namespace {

struct World {
  static void Barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  static void MaxOverRanks(double* values, std::size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE,
                  MPI_MAX, MPI_COMM_WORLD);
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) {
    std::fputs("usage: collectives_mpi MIN MAX FACTOR\n", stderr);
    return 2;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::size_t max = std::strtoull(argv[2], nullptr, 10);
  const std::size_t factor = std::strtoull(argv[3], nullptr, 10);
  std::vector<float> data(max / sizeof(float));
  World world;
  for (std::size_t bytes = std::strtoull(argv[1], nullptr, 10); bytes <= max;
       bytes *= factor) {
    const auto times = hvd::perf::Measure(
        world, data.data(), bytes, hvd::perf::IterationsFor(bytes), [&] {
          MPI_Allreduce(MPI_IN_PLACE, data.data(),
                        static_cast<int>(bytes / sizeof(float)), MPI_FLOAT,
                        MPI_SUM, MPI_COMM_WORLD);
        });
    if (rank != 0) continue;
    std::printf(
        "{\"way\": \"mpi\", \"bytes\": %zu, \"min\": %.3f, "
        "\"median\": %.3f}\n",
        bytes, times.min, times.median);
    std::fflush(stdout);
  }
  MPI_Finalize();
}
