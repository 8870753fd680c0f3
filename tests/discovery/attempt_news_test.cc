#include "discovery/attempt_news.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/discovery/heard.h"

namespace hvd {

using testing::Heard;

namespace {

using Next = AttemptNews::Next;

const HostList kOne{{"a", 1}};
const HostList kTwo{{"a", 1}, {"b", 1}};

DiscoveryFailure Failure(FailureKind kind, const std::string& text) {
  return {kind, {ErrorCode::kUnavailable, text}};
}

}  // namespace

TEST_CASE("AttemptNews tells the first list and each that differs",
          "[discovery][unit]") {
  Heard heard;
  AttemptNews news("script", heard.Handlers());
  for (const HostList& hosts : {kOne, kOne, kTwo, kTwo, HostList{}, kOne}) {
    CHECK(news.Tell(hosts) == Next::kGoOn);
  }
  CHECK(heard.lists == std::vector<HostList>{kOne, kTwo, {}, kOne});
  CHECK(heard.warnings.empty());
}

TEST_CASE("AttemptNews tells a first list that is empty", "[discovery][unit]") {
  Heard heard;
  AttemptNews news("script", heard.Handlers());
  news.Tell(HostList{});
  CHECK(heard.lists == std::vector<HostList>{{}});
}

TEST_CASE("AttemptNews fails when the first attempt does, and is silent then",
          "[discovery][unit]") {
  Heard heard;
  AttemptNews news("script", heard.Handlers());
  CHECK(news.Tell(Failure(FailureKind::kSignal, "why")) == Next::kOver);
  CHECK(news.Tell(kOne) == Next::kOver);
  CHECK(news.Tell(Failure(FailureKind::kTimeout, "why")) == Next::kOver);
  REQUIRE(heard.failures.size() == 1);
  CHECK(heard.failures[0].message() == "why");
  CHECK(heard.lists.empty());
  CHECK(heard.warnings.empty());
}

TEST_CASE("AttemptNews warns once for each change of the kind of failure",
          "[discovery][unit]") {
  Heard heard;
  AttemptNews news("script", heard.Handlers());
  news.Tell(kOne);
  news.Tell(Failure(FailureKind::kExitStatus, "exit 1"));
  news.Tell(Failure(FailureKind::kExitStatus, "exit 2"));
  news.Tell(Failure(FailureKind::kTimeout, "slow"));
  news.Tell(Failure(FailureKind::kTimeout, "slow"));
  news.Tell(Failure(FailureKind::kExitStatus, "exit 1"));
  CHECK(heard.warnings ==
        std::vector<std::string>{"exit 1; the last list of hosts stays",
                                 "slow; the last list of hosts stays",
                                 "exit 1; the last list of hosts stays"});
  CHECK(heard.failures.empty());
  CHECK(heard.lists.size() == 1);
}

TEST_CASE("AttemptNews says once that it works again, before the new list",
          "[discovery][unit]") {
  std::vector<std::string> order;
  AttemptNews news(
      "script",
      {.on_hosts = [&](const HostList&) { order.push_back("hosts"); },
       .on_warning = [&](const std::string& line) { order.push_back(line); }});
  news.Tell(kOne);
  news.Tell(Failure(FailureKind::kSignal, "killed"));
  news.Tell(kTwo);
  news.Tell(kTwo);
  CHECK(order == std::vector<std::string>{
                     "hosts", "killed; the last list of hosts stays",
                     "script works again", "hosts"});
}

TEST_CASE("AttemptNews may be destroyed by each of its handlers",
          "[discovery][unit]") {
  std::unique_ptr<AttemptNews> news;
  int lists = 0;
  const auto destroy = [&] { news.reset(); };
  SECTION("by the one for hosts") {
    news = std::make_unique<AttemptNews>(
        "script",
        DiscoveryHandlers{.on_hosts = [=](const HostList&) { destroy(); }});
    CHECK(news->Tell(kOne) == Next::kOver);
  }
  SECTION("by the one for the failure") {
    news = std::make_unique<AttemptNews>(
        "script",
        DiscoveryHandlers{.on_failed = [=](const Error&) { destroy(); }});
    CHECK(news->Tell(Failure(FailureKind::kGone, "gone")) == Next::kOver);
  }
  SECTION("by the one for warnings, which ends it") {
    news = std::make_unique<AttemptNews>(
        "script",
        DiscoveryHandlers{.on_hosts = [&](const HostList&) { ++lists; },
                          .on_warning =
                              [=](const std::string& line) {
                                if (line == "script works again") destroy();
                              }});
    CHECK(news->Tell(kOne) == Next::kGoOn);
    CHECK(news->Tell(Failure(FailureKind::kGone, "gone")) == Next::kGoOn);
    CHECK(news->Tell(kTwo) == Next::kOver);
    CHECK(lists == 1);
  }
  CHECK(news == nullptr);
}

TEST_CASE("AttemptNews goes on without handlers", "[discovery][unit]") {
  AttemptNews news("script", {});
  CHECK(news.Tell(kOne) == Next::kGoOn);
  CHECK(news.Tell(Failure(FailureKind::kGone, "gone")) == Next::kGoOn);
  CHECK(news.Tell(kTwo) == Next::kGoOn);
}

TEST_CASE("ParseAttempt names the bad line", "[discovery][unit]") {
  CHECK(std::get<HostList>(ParseAttempt("a\r\nb:2", "f", 3)) ==
        HostList{{"a", 3}, {"b", 2}});
  const Attempt bad = ParseAttempt("a\nb:x\n", "f", 1);
  const auto& failure = std::get<DiscoveryFailure>(bad);
  CHECK(failure.kind == FailureKind::kBadLine);
  CHECK(failure.error.message() ==
        "f:2: slots must be 1 or more, got \"x\": \"b:x\"");
}

}  // namespace hvd
