#include "cmd/exec_limits.h"

#include <catch2/catch.hpp>
#include <string>

namespace hvd {

TEST_CASE("CheckExecLimits passes what the kernel takes", "[cmd]") {
  const EnvList env = {{"BIG", std::string(128 * 1024 - 5, 'x')}};
  CHECK(CheckExecLimits({"./train", "--epochs", "3"}, env).ok());
}

TEST_CASE("CheckExecLimits names the variable that is too long", "[cmd]") {
  const EnvList env = {{"SMALL", "x"}, {"BIG", std::string(128 * 1024, 'x')}};
  CHECK(CheckExecLimits({"./train"}, env).error().message() ==
        "environment variable BIG has 129 KiB: the kernel takes at most 128 "
        "KiB");
}

TEST_CASE("CheckExecLimits names the word that is too long", "[cmd]") {
  CHECK(CheckExecLimits({"./train", std::string(200 * 1024, 'x')}, {})
            .error()
            .message() ==
        "word 2 of the command has 201 KiB: the kernel takes at most 128 KiB");
}

TEST_CASE("CheckExecLimits names the largest variable when all are too much",
          "[cmd]") {
  EnvList env;
  for (int i = 0; i < 70; ++i) {
    env.emplace_back("V" + std::to_string(i), std::string(100 * 1024, 'x'));
  }
  env.emplace_back("LARGEST", std::string(110 * 1024, 'x'));
  const std::string message =
      CheckExecLimits({"./train"}, env).error().message();
  CHECK(message.find("at most 6 MiB") != std::string::npos);
  CHECK(message.find("LARGEST, 111 KiB") != std::string::npos);
}

}  // namespace hvd
