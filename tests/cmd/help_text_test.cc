#include "cmd/help_text.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "cmd/exit_code.h"
#include "cmd/flag_table.h"
#include "tests/cmd/golden.h"

namespace hvd {

TEST_CASE("hvdrun --help is what its golden file says", "[cmd][unit]") {
  CHECK(HelpText() == testing::Golden("help.txt", HelpText()));
}

TEST_CASE("docs/cli.md contains --help as it is", "[cmd][unit]") {
  const std::string page = testing::ReadText(HVD_SOURCE_DIR "/docs/cli.md");
  CHECK(page.find("```text\n" + HelpText() + "```\n") != std::string::npos);
}

TEST_CASE("docs/cli.md names the variable of every flag", "[cmd][unit]") {
  const std::string page = testing::ReadText(HVD_SOURCE_DIR "/docs/cli.md");
  for (const Flag& flag : AllFlags()) {
    CAPTURE(VariableName(flag));
    CHECK(page.find('`' + VariableName(flag) + '`') != std::string::npos);
  }
}

TEST_CASE("hvdrun --help shows every flag and every exit code", "[cmd][unit]") {
  const std::string help = HelpText();
  for (const Flag& flag : AllFlags()) {
    CAPTURE(flag.name);
    CHECK(help.find(std::string(flag.name)) != std::string::npos);
  }
  for (const ExitRule& rule : ExitRules()) {
    CHECK(help.find(std::string(rule.code)) != std::string::npos);
  }
}

TEST_CASE("hvdrun --help fits a terminal of 80 columns", "[cmd][unit]") {
  std::istringstream lines(HelpText());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
  CHECK(count < 160);
}

}  // namespace hvd
