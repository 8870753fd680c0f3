#include "worker/state_memory.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace hvd {
namespace {

// A process's state: three things of which two may change their size.
struct State {
  explicit State(StateMemory& memory) {
    for (std::string* text : {&first, &second, &third}) {
      memory.Add({[text] { return std::string_view(*text); },
                  [text](std::string_view bytes) { *text = bytes; }});
    }
  }
  std::vector<std::string> All() const { return {first, second, third}; }

  std::string first = "a";
  std::string second;
  std::string third = "123456789";
};

}  // namespace

TEST_CASE("StateMemory goes back to what was saved last", "[worker]") {
  StateMemory memory;
  State state(memory);
  const std::vector<std::string> saved = state.All();
  memory.Restore();  // nothing was saved
  CHECK(state.All() == saved);
  memory.Save();
  state.first = "longer than before";
  state.second = "no more empty";
  state.third = "";
  memory.Restore();
  CHECK(state.All() == saved);
  memory.Restore();
  CHECK(state.All() == saved);
}

TEST_CASE("StateMemory gives its block to another process", "[worker]") {
  StateMemory here;
  State mine(here);
  mine.second = std::string(1000, '\0');
  here.Save();
  StateMemory there;
  State theirs(there);
  theirs.third = "0";
  there.Save();
  there.Adopt(here.saved());
  CHECK(theirs.All() == mine.All());
  theirs.first = "spoiled";
  there.Restore();
  CHECK(theirs.All() == mine.All());
}

TEST_CASE("StateMemory makes the same block of the same state", "[worker]") {
  StateMemory one;
  State first(one);
  one.Save();
  first.third = std::string(100, 'x');
  one.Save();
  first.third = "123456789";
  one.Save();
  StateMemory other;
  State second(other);
  other.Save();
  CHECK(one.saved() == other.saved());
}

TEST_CASE("StateMemory says when another process registered other things",
          "[worker]") {
  StateMemory here;
  State mine(here);
  here.Save();
  StateMemory there;
  CHECK_THROWS_WITH(there.Adopt(here.saved()),
                    "hvd: elastic state: this rank has registered 0 things, "
                    "the oldest rank 3");
}

TEST_CASE("StateMemory keeps its copy when a piece cannot be saved",
          "[worker]") {
  StateMemory memory;
  State state(memory);
  bool fails = false;
  memory.Add({[&]() -> std::string_view {
                if (fails) throw std::runtime_error("no");
                return "piece";
              },
              [](std::string_view) {}});
  memory.Save();
  state.first = "not saved";
  fails = true;
  CHECK_THROWS_WITH(memory.Save(), "no");
  memory.Restore();
  CHECK(state.first == "a");
}

}  // namespace hvd
