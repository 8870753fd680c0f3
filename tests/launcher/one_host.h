// OneHost: a RemoteBootstrap with a program of the test's own in the place of
// ssh, and what it told of one host.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/remote_bootstrap.h"
#include "tests/discovery/pump.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_directory.h"

namespace hvd::testing {

// An ssh whose host is this machine: its login shell runs the last word.
inline constexpr const char* kLocal =
    "for word; do :; done; exec /bin/sh -c \"$word\"";

class OneHost {
 public:
  explicit OneHost(const std::string& ssh, AgentPlace place = StandIn(),
                   RemoteShell shell = {}) {
    directory_.Write("ssh", "#!/bin/sh\n" + ssh + '\n', 0755);
    std::filesystem::create_directory(directory_ / "tmp");
    RemoteBootstrap::Options options{.keeper_path = HVD_TEST_KEEPER,
                                     .shell = std::move(shell),
                                     .place = std::move(place),
                                     .program_version = "1.2.3",
                                     .cwd = directory_.path()};
    if (options.place.kind == AgentPlace::Kind::kInstall) {
      options.program =
          std::make_shared<const std::string>(ReadFile(HVD_TEST_AGENT));
    }
    options.env = {{"PATH", directory_.path() + ":/usr/bin:/bin"},
                   {"MARK", mark_.text()},
                   {"TMPDIR", directory_ / "tmp"},
                   {"DISPLAY", ":0"},
                   {"SSH_ASKPASS", "/bin/false"}};
    auto made = RemoteBootstrap::Make(loop_, std::move(options));
    REQUIRE(made.ok());
    bootstrap_ = std::move(made).value();
  }

  static AgentPlace StandIn() {
    return {AgentPlace::Kind::kGiven, HVD_TEST_AGENT};
  }

  void Start(std::string payload = "orders", const RemoteHost& host = {"b"}) {
    end.reset();
    attempt_ = bootstrap_->Start(
        host, [payload = std::move(payload)] { return payload; },
        {.on_chatter =
             [this](std::string_view line) { said.emplace_back(line); },
         .on_login = [this] { logged_in = true; },
         .on_agent = [this](const std::string& v) { version = v; },
         .on_end = [this](BootstrapEnd e) { end = std::move(e); }});
    CHECK_FALSE(end.has_value());  // never from inside
  }
  void Stop() { attempt_.reset(); }

  bool Until(const std::function<bool()>& done) {
    const bool came = PumpUntil(loop_, done, kLongest);
    if (!came) UNSCOPED_INFO(Told());
    return came;
  }
  BootstrapEnd End() {
    REQUIRE(Until([&] { return end.has_value(); }));
    return *end;
  }
  bool Says(const std::string& text) {
    return Until([&] { return Told().find(text) != std::string::npos; });
  }
  std::string Told() const {
    std::string told;
    for (const std::string& line : said) told += line + '\n';
    if (end) told += "end: " + end->error.message() + '\n';
    return told;
  }
  // The keeper has this test's environment, not the mark.
  bool OnlyKeeperLeft() const {
    return NoneLeft(mark_.text(), std::chrono::seconds(5));
  }

  // The same when the keeper is gone and the loop has to do its work.
  bool NobodyLeft() {
    return Until([this] { return ProcessesWith(mark_.text()).empty(); });
  }

  RemoteBootstrap& bootstrap() { return *bootstrap_; }
  const TemporaryDirectory& directory() const { return directory_; }

  std::vector<std::string> said;
  bool logged_in = false;
  std::optional<std::string> version;
  std::optional<BootstrapEnd> end;

 private:
  static constexpr Duration kLongest{20'000};

  TemporaryDirectory directory_;
  ScopedMark mark_;
  EventLoop loop_;
  std::unique_ptr<RemoteBootstrap> bootstrap_;
  std::unique_ptr<BootstrapAttempt> attempt_;
};

}  // namespace hvd::testing
