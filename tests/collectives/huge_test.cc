// Arrays longer than any 32-bit count, without as much memory.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "tests/collectives/ring_world.h"

namespace hvd {
namespace {

using namespace testing;

constexpr std::size_t kWindow = std::size_t{64} << 20U;
constexpr std::size_t kWindows = 128;
constexpr std::size_t kBytes = kWindow * kWindows;  // 2^33

// One piece of memory, many times in a row.
class Repeated {
 public:
  Repeated() : memory_(::memfd_create("hvd-test", MFD_CLOEXEC)) {
    REQUIRE(::ftruncate(memory_.get(), off_t{kWindow}) == 0);
    void* const base =
        ::mmap(nullptr, kBytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(base != MAP_FAILED);
    data_ = static_cast<std::uint8_t*>(base);
    for (std::size_t i = 0; i < kWindows; ++i) {
      REQUIRE(::mmap(data_ + i * kWindow, kWindow, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, memory_.get(), 0) != MAP_FAILED);
    }
  }
  ~Repeated() { ::munmap(data_, kBytes); }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  std::uint8_t* data() { return data_; }

 private:
  UniqueFd memory_;
  std::uint8_t* data_ = nullptr;
};

std::uint8_t Element(int rank, std::size_t i) {
  return static_cast<std::uint8_t>((i * static_cast<unsigned>(rank * 6 + 1)) %
                                   251);
}

}  // namespace

TEST_CASE("An array of 2^33 elements is reduced to its end", "[collectives]") {
  for (const Transport transport : {Transport::kShared, Transport::kTcp}) {
    CHECK(
        RunThreads({.size = 2, .transport = transport},
                   [](Communicator& c) -> std::string {
                     Repeated memory;
                     std::uint8_t* const data = memory.data();
                     for (std::size_t i = 0; i < kWindow; ++i) {
                       data[i] = Element(c.rank(), i);
                     }
                     // The maximum is the same however often it is taken.
                     const Status s = c.AllReduce(
                         data, data, kBytes, DataType::kUint8, ReduceOp::kMax);
                     if (!s.ok()) return s.error().message();
                     for (std::size_t i = 0; i < kWindow; ++i) {
                       if (data[i] != std::max(Element(0, i), Element(1, i))) {
                         return "element " + std::to_string(i) + " is wrong";
                       }
                     }
                     return "";
                   }) == "");
  }
}

}  // namespace hvd
