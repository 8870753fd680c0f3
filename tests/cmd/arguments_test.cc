#include "cmd/arguments.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace hvd {
namespace {

using Words = std::vector<std::string>;

// "--hosts=a:1", one word a flag.
Words Flags(const Arguments& arguments) {
  Words out;
  for (const FlagUse& use : arguments.flags) {
    out.push_back(std::string(use.flag->name) + '=' + use.value);
  }
  return out;
}

Arguments Split(const Words& words) {
  const Result<Arguments> arguments = SplitArguments(words);
  if (!arguments.ok()) FAIL(arguments.error().message());
  return arguments.value();
}

Error ErrorOf(const Words& words) {
  const Result<Arguments> arguments = SplitArguments(words);
  REQUIRE_FALSE(arguments.ok());
  CHECK(arguments.error().code() == ErrorCode::kInvalidArgument);
  return arguments.error();
}

}  // namespace

TEST_CASE("every form of -np that horovodrun's users write is understood",
          "[cmd][unit]") {
  for (const Words& words : std::vector<Words>{{"-np", "4"},
                                               {"-np=4"},
                                               {"-np4"},
                                               {"--num-proc", "4"},
                                               {"--num-proc=4"},
                                               {"-n", "4"},
                                               {"--num", "4"}}) {
    CAPTURE(words);
    CHECK(Flags(Split(words)) == Words{"--num-proc=4"});
  }
  for (const Words& words :
       std::vector<Words>{{"-np", "-4"}, {"-np=-4"}, {"-np-4"}}) {
    CAPTURE(words);
    CHECK(Flags(Split(words)) == Words{"--num-proc=-4"});
  }
}

TEST_CASE("every form of -H is understood", "[cmd][unit]") {
  for (const Words& words : std::vector<Words>{{"-H", "localhost:2"},
                                               {"-Hlocalhost:2"},
                                               {"-H=localhost:2"},
                                               {"--hosts", "localhost:2"},
                                               {"--hosts=localhost:2"}}) {
    CAPTURE(words);
    CHECK(Flags(Split(words)) == Words{"--hosts=localhost:2"});
  }
  CHECK(Flags(Split({"-hostfile", "f"})) == Words{"--hostfile=f"});
  CHECK(Flags(Split({"-Ha:1,b:2"})) == Words{"--hosts=a:1,b:2"});
}

TEST_CASE("the command begins at the first word that is no flag",
          "[cmd][unit]") {
  const Arguments arguments =
      Split({"-np", "2", "python", "-u", "x.py", "-np", "9", "--", "--help"});
  CHECK(Flags(arguments) == Words{"--num-proc=2"});
  CHECK(arguments.command ==
        Words{"python", "-u", "x.py", "-np", "9", "--", "--help"});
  CHECK_FALSE(arguments.dashes_before_command);
}

TEST_CASE("the user's own words are passed on byte for byte", "[cmd][unit]") {
  // DeepSpeed #4523: arguments with blanks, quotes and braces were taken apart.
  const Words command = {"./show.py", "--p=a b", "it's",
                         "say \"x\"", "",        "{\"k\": [1, \"v w\"]}",
                         "-",         "\xff\n"};
  Words words = {"-np", "1"};
  words.insert(words.end(), command.begin(), command.end());
  CHECK(Split(words).command == command);
}

TEST_CASE("two dashes before the command are dropped", "[cmd][unit]") {
  const Arguments arguments = Split({"-np", "2", "--", "-odd-program", "--"});
  CHECK(arguments.command == Words{"-odd-program", "--"});
  CHECK(arguments.dashes_before_command);
  CHECK(Split({"--"}).command.empty());
}

TEST_CASE("an unknown flag is named with the nearest known one",
          "[cmd][unit]") {
  const Error error = ErrorOf({"--strat-timeout", "3", "true"});
  CHECK(error.message() == "unknown flag --strat-timeout");
  CHECK(error.hint() == "did you mean --start-timeout?");
  CHECK(ErrorOf({"--mpi-args", "x"}).message() == "unknown flag --mpi-args");
  CHECK(ErrorOf({"--no-such-thing", "x"}).hint().empty());
  CHECK(ErrorOf({"-x"}).message() == "unknown flag -x");
  CHECK(ErrorOf({"--frobnicate=3"}).message() == "unknown flag --frobnicate");
}

TEST_CASE("a shortened flag is horovodrun's first, then ours", "[cmd][unit]") {
  CHECK(Flags(Split({"--output-file", "d"})) == Words{"--output-filename=d"});
  CHECK(Flags(Split({"--out", "d"})) == Words{"--output-filename=d"});
  CHECK(Flags(Split({"--dry"})) == Words{"--dry-run=1"});
  CHECK(Flags(Split({"--start", "5"})) == Words{"--start-timeout=5"});
  const Error error = ErrorOf({"--host", "a"});
  CHECK(error.message() == "flag --host is ambiguous");
  CHECK(error.hint() ==
        "it may be --hosts or --hostfile or --host-discovery-script");
}

TEST_CASE("the cooldown range is two words, as for horovodrun", "[cmd][unit]") {
  const Arguments arguments =
      Split({"--blacklist-cooldown-range", "2", "8", "train"});
  CHECK(Flags(arguments) == Words{"--blacklist-cooldown-range=2 8"});
  CHECK(arguments.command == Words{"train"});
  CHECK(ErrorOf({"--blacklist-cooldown-range", "2", "--verbose"}).message() ==
        "--blacklist-cooldown-range needs a value: --blacklist-cooldown-range "
        "MIN MAX");
}

TEST_CASE("an exact name is never taken for the start of another",
          "[cmd][unit]") {
  CHECK(Flags(Split({"--output", "raw"})) == Words{"--output=raw"});
  CHECK(Flags(Split({"--env", "A=1"})) == Words{"--env=A=1"});
}

TEST_CASE("a forgotten value is noticed where it is missing", "[cmd][unit]") {
  CHECK(ErrorOf({"-H"}).message() == "-H needs a value: -H LIST");
  CHECK(ErrorOf({"-H", "--verbose"}).message() == "-H needs a value: -H LIST");
  CHECK(ErrorOf({"-np", "-H", "a"}).message() == "-np needs a value: -np N");
  CHECK(ErrorOf({"--timeout", "--", "x"}).message() ==
        "--timeout needs a value: --timeout S");
}

TEST_CASE("a switch takes no value", "[cmd][unit]") {
  CHECK(ErrorOf({"--verbose=1"}).message() == "--verbose takes no value");
  CHECK(Flags(Split({"--verbose", "true"})) == Words{"--verbose=1"});
  CHECK(Split({"--verbose", "true"}).command == Words{"true"});
}

TEST_CASE("hvdrun -v is the version, as in horovodrun", "[cmd][unit]") {
  CHECK(Flags(Split({"-v"})) == Words{"--version=1"});
  CHECK(Flags(Split({"-h"})) == Words{"--help=1"});
  CHECK(Flags(Split({"-cb"})) == Words{"--check-build=1"});
  CHECK(Flags(Split({"-prefix-timestamp"})) ==
        Words{"--prefix-output-with-timestamp=1"});
}

TEST_CASE("no two flags share a name, an alias or a variable", "[cmd][unit]") {
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const Flag& flag : AllFlags()) {
    CAPTURE(flag.name);
    CHECK(names.emplace(flag.name).second);
    CHECK(variables.insert(VariableName(flag)).second);
    for (const std::string_view alias : flag.aliases) {
      if (!alias.empty()) CHECK(names.emplace(alias).second);
    }
  }
}

TEST_CASE("every flag can be given as a variable", "[cmd][unit]") {
  for (const Flag& flag : AllFlags()) {
    CAPTURE(flag.name);
    std::vector<std::string> notes;
    const auto uses = FlagsFromVariables({{VariableName(flag), "1"}}, notes);
    REQUIRE(uses.ok());
    REQUIRE(uses.value().size() == 1);
    CHECK(uses.value()[0].flag == &flag);
    CHECK(notes.empty());
  }
}

TEST_CASE("an empty variable and a switched off one give no flag",
          "[cmd][unit]") {
  std::vector<std::string> notes;
  const auto uses = FlagsFromVariables({{"HVDRUN_TIMEOUT", ""},
                                        {"HVDRUN_VERBOSE", "0"},
                                        {"HVDRUN_EXPLAIN", "False"},
                                        {"HVDRUN_NP", "3"}},
                                       notes);
  REQUIRE(uses.ok());
  REQUIRE(uses.value().size() == 1);
  CHECK(uses.value()[0].written == "HVDRUN_NP");
}

TEST_CASE("a switch as a variable is 1 or 0", "[cmd][unit]") {
  std::vector<std::string> notes;
  const auto uses = FlagsFromVariables({{"HVDRUN_VERBOSE", "maybe"}}, notes);
  REQUIRE_FALSE(uses.ok());
  CHECK(uses.error().message() ==
        "HVDRUN_VERBOSE must be 1 or 0, got \"maybe\"");
}

TEST_CASE("a mistyped HVDRUN_ variable is noted, HVD_ ones are ignored",
          "[cmd][unit]") {
  std::vector<std::string> notes;
  const auto uses = FlagsFromVariables(
      {{"HVDRUN_TIMOUT", "3"}, {"HVD_RANK", "3"}, {"PATH", "/bin"}}, notes);
  REQUIRE(uses.ok());
  CHECK(uses.value().empty());
  CHECK(notes == Words{"HVDRUN_TIMOUT is no flag of hvdrun and has no effect; "
                       "did you mean HVDRUN_TIMEOUT?"});
}

}  // namespace hvd
