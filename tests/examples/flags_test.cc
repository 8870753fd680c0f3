#include "examples/flags.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {
namespace {

Flags Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return {static_cast<int>(argv.size()),
          argv.data(),
          {"--steps", "--rate"},
          {"--loud"}};
}

}  // namespace

TEST_CASE("Flags takes a value from the next word or after an equals sign",
          "[examples]") {
  CHECK(Parse({"--steps", "3"}).Count("--steps", 10, 100) == 3);
  CHECK(Parse({"--steps=3"}).Count("--steps", 10, 100) == 3);
  CHECK(Parse({}).Count("--steps", 10, 100) == 10);
  CHECK(Parse({"--rate", "2.5"}).Number("--rate", 5) == 2.5);
  CHECK(Parse({"--rate="}).Text("--rate", "x").empty());
}

TEST_CASE("Flags knows whether a switch was given", "[examples]") {
  CHECK(Parse({"--loud", "--steps", "3"}).Has("--loud"));
  CHECK_FALSE(Parse({"--steps", "3"}).Has("--loud"));
}

TEST_CASE("Flags refuses words that are no flag of the program", "[examples]") {
  CHECK_THROWS_WITH(Parse({"--stps", "3"}), "unknown flag --stps");
  CHECK_THROWS_WITH(Parse({"3"}), "unknown flag 3");
  CHECK_THROWS_WITH(Parse({"--loud=yes"}), "unknown flag --loud=yes");
  CHECK_THROWS_WITH(Parse({"--steps"}), "--steps needs a value");
}

TEST_CASE("Flags refuses a value that is not the number it should be",
          "[examples]") {
  const std::string bad = GENERATE("x", "", "1x", " 1", "1e400");
  CHECK_THROWS_AS(Parse({"--steps=" + bad}).Count("--steps", 1, 9),
                  std::invalid_argument);
  CHECK_THROWS_AS(Parse({"--rate=" + bad}).Number("--rate", 1),
                  std::invalid_argument);
  CHECK_THROWS_WITH(Parse({"--steps=10"}).Count("--steps", 1, 9),
                    "--steps must be 0 to 9, got 10");
  CHECK_THROWS_WITH(Parse({"--steps=-1"}).Count("--steps", 1, 9),
                    "--steps must be 0 to 9, got -1");
  CHECK_THROWS_WITH(Parse({"--rate=-1"}).Number("--rate", 1),
                    "--rate must not be negative, got -1");
  CHECK_THROWS_AS(Parse({"--rate=inf"}).Number("--rate", 1),
                  std::invalid_argument);
}

}  // namespace examples
