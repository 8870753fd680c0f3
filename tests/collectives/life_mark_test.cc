#include "collectives/life_mark.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <new>
#include <thread>

namespace hvd {
namespace {

// A word that this process and its children share.
class SharedWord {
 public:
  SharedWord() {
    void* const memory =
        ::mmap(nullptr, sizeof(std::atomic<std::uint32_t>),
               PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    word_ = new (memory) std::atomic<std::uint32_t>(0);
  }
  ~SharedWord() { ::munmap(word_, sizeof(*word_)); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  std::atomic<std::uint32_t>& get() { return *word_; }

 private:
  std::atomic<std::uint32_t>* word_;
};

}  // namespace

TEST_CASE("A life mark tells a process that was killed from one that ended",
          "[collectives]") {
  for (const bool killed : {true, false}) {
    SharedWord word;
    const pid_t child = ::fork();
    if (child == 0) {
      {
        const LifeMark mark(word.get());
        if (killed) ::raise(SIGKILL);
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) == killed);
    CHECK(HolderDied(word.get()) == killed);
  }
}

TEST_CASE("A life mark is made when its thread dies, though the process lives",
          "[collectives]") {
  SharedWord word;
  alignas(LifeMark) std::array<std::byte, sizeof(LifeMark)> place{};
  std::thread([&] {
    new (place.data()) LifeMark(word.get());  // and never taken back
    CHECK(word.get().load() == static_cast<std::uint32_t>(::gettid()));
    CHECK_FALSE(HolderDied(word.get()));
  }).join();
  // The kernel wakes who joins after it has gone through the list.
  CHECK(HolderDied(word.get()));
}

TEST_CASE("A thread may hold one life mark after another", "[collectives]") {
  std::atomic<std::uint32_t> first{0};
  std::atomic<std::uint32_t> second{0};
  std::thread([&] {
    {
      const LifeMark mark(first);
      CHECK(first.load() != 0);
    }
    CHECK(first.load() == 0);
    const LifeMark mark(second);
    CHECK(second.load() != 0);
  }).join();
  CHECK(first.load() == 0);
  CHECK(second.load() == 0);
}

}  // namespace hvd
