#include "cmd/build_report.h"

namespace hvd {
namespace {

// The names are horovodrun's, with what we have in their place below them.
constexpr const char* kHorovodShape = R"(
Available Frameworks:
    [ ] TensorFlow
    [ ] PyTorch
    [ ] MXNet

Available Controllers:
    [ ] MPI
    [ ] Gloo
    [X] hvdrun

Available Tensor Operations:
    [ ] NCCL
    [ ] DDL
    [ ] CCL
    [ ] MPI
    [ ] Gloo
    [X] libhvd (CPU: shared memory, TCP)
)";

std::string Place(const Result<std::string>& path) {
  return path.ok() ? path.value() : "not found: " + path.error().message();
}

}  // namespace

std::string CompilerText() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GNU " __VERSION__;
#endif
}

std::string BuildReportText(const BuildFacts& facts) {
  return "hvdrun v" + facts.version + ":\n" + kHorovodShape +
         "\nThis build:\n"
         "    compiler      " +
         facts.compiler + "\n    keeper        " + Place(facts.keeper) +
         "\n    libhvd        " + Place(facts.libhvd) +
         "\n    frameworks    none are built in; programs bring their own\n"
         "    NCCL          no: this version moves CPU memory only\n"
         "    remote hosts  over ssh; agent: " +
         Place(facts.agent) + '\n';
}

}  // namespace hvd
