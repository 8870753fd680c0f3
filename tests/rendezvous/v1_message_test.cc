#include "rendezvous/v1_message.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace hvd {
namespace {

const Endpoint kEndpoint{"127.0.0.2", 65535, "hvd-x-\"quoted\"", "host key"};

}  // namespace

TEST_CASE("a worker's name is read back, slashes in the host included",
          "[rendezvous]") {
  for (const WorkerId& worker : std::vector<WorkerId>{
           {"a", 0}, {"node-3.example.org", 12}, {"odd/name", 1}}) {
    CHECK(ParseWorkerId(ToString(worker)) == worker);
  }
  for (const char* bad : {"", "a", "/0", "a/", "a/-1", "a/1x", "a/ 1",
                          "a/2147483648", "a/99999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(ParseWorkerId(bad));
  }
}

TEST_CASE("a world request survives the way", "[rendezvous]") {
  const auto read =
      ParseWorldRequest(FormatWorldRequest({Epoch{~0ULL}, kEndpoint}));
  REQUIRE(read);
  CHECK(read->after == Epoch{~0ULL});
  CHECK(read->endpoint == kEndpoint);
}

TEST_CASE("a world request that does not fit is refused", "[rendezvous]") {
  const std::string tail =
      R"("endpoint":{"address":"a","port":1,"local_name":"","host_key":""}})";
  REQUIRE(ParseWorldRequest(R"({"after":0,)" + tail));
  // Fields of a later version are none of our business.
  CHECK(ParseWorldRequest(R"({"later":[],"after":0,)" + tail));
  for (const std::string& bad : std::vector<std::string>{
           "", "null", "[]", "{}", "{\"after\":0}", R"({"after":-1,)" + tail,
           R"({"after":"0",)" + tail, R"({"after":0.5,)" + tail,
           R"({"after":0,"endpoint":7})",
           R"({"after":0,"endpoint":{"address":"a","port":65536,)"
           R"("local_name":"","host_key":""}})",
           R"({"after":0,"endpoint":{"address":1,"port":1,)"
           R"("local_name":"","host_key":""}})",
           R"({"after":0,)" + tail + "trailing", std::string(10'000, '['),
           "\x80\x02}q"}) {
    INFO(bad);
    CHECK_FALSE(ParseWorldRequest(bad));
  }
}

TEST_CASE("a blame survives the way, and what is none is refused",
          "[rendezvous]") {
  CHECK(ParseBlame(FormatBlame({Epoch{~0ULL}, 7})) == Blame{Epoch{~0ULL}, 7});
  for (const std::string bad :
       {"", "7", "{}", R"({"epoch":1})", R"({"rank":1})",
        R"({"epoch":1,"rank":-1})", R"({"epoch":1,"rank":2147483648})",
        R"({"epoch":"1","rank":0})", R"({"epoch":1,"rank":0}x)"}) {
    INFO(bad);
    CHECK_FALSE(ParseBlame(bad));
  }
}

TEST_CASE("a world survives the way", "[rendezvous]") {
  const World world{Epoch{3}, {{"a", 0}, {"b", 7}}};
  const std::vector<Endpoint> endpoints = {kEndpoint, {"::1", 1, "", ""}};
  const auto read = ParseWorldAnswer(FormatWorldAnswer(world, endpoints));
  REQUIRE(read);
  CHECK(read->world == world);
  CHECK(read->endpoints == endpoints);
  CHECK_FALSE(ParseWorldAnswer(R"({"epoch":1})"));
  CHECK_FALSE(ParseWorldAnswer(R"({"epoch":1,"members":[{"host":"a"}]})"));
  CHECK_FALSE(ParseWorldAnswer(R"({"epoch":1,"members":[7]})"));
}

TEST_CASE("a notice survives the way, broken UTF-8 as a replacement",
          "[rendezvous]") {
  const WorldNotice notice{2, "rank 2: \"quoted\"\n"};
  CHECK(ParseNotice(FormatNotice(notice)) == notice);
  const WorldNotice nobody{std::nullopt, "x"};
  CHECK(ParseNotice(FormatNotice(nobody)) == nobody);
  const WorldNotice replaced{std::nullopt, "x", true};
  CHECK(ParseNotice(FormatNotice(replaced)) == replaced);
  CHECK(ParseNotice(R"({"text":"x","replaced":1})") == nobody);
  const WorldNotice silent{.lost_rank = 2, .text = "x", .silent = true};
  CHECK(ParseNotice(FormatNotice(silent)) == silent);
  CHECK(ParseNotice(R"({"text":"x","silent":1})") == nobody);
  CHECK(ParseNotice(FormatNotice({1, "\xff!"}))->text == "\xef\xbf\xbd!");
  CHECK_FALSE(ParseNotice(R"({"lost_rank":1})"));
}

TEST_CASE("a notice's target carries its epoch and what was heard",
          "[rendezvous]") {
  CHECK(FormatNoticeTarget({Epoch{12}}) == "/v1/notice?epoch=12");
  CHECK(FormatNoticeTarget({Epoch{12}, NoticeKind::kReplaced}) ==
        "/v1/notice?epoch=12&heard=2");
  for (const NoticeKind heard :
       {NoticeKind::kNone, NoticeKind::kHostsChanged, NoticeKind::kReplaced,
        NoticeKind::kRankLost}) {
    const auto read = ParseNoticeTarget(FormatNoticeTarget({Epoch{12}, heard}));
    REQUIRE(read);
    CHECK(read->epoch == Epoch{12});
    CHECK(read->heard == heard);
    CHECK(read->operations == 0);
  }
  CHECK(FormatNoticeTarget({Epoch{12}, NoticeKind::kNone, 7}) ==
        "/v1/notice?epoch=12&operations=7");
  const auto whole = ParseNoticeTarget(
      FormatNoticeTarget({Epoch{12}, NoticeKind::kRankLost, ~0ULL}));
  REQUIRE(whole);
  CHECK(whole->heard == NoticeKind::kRankLost);
  CHECK(whole->operations == ~0ULL);
  for (const char* bad :
       {"/v1/notice", "/v1/notice?epoch=", "/v1/notice?epoch=-1",
        "/v1/notice?epoch=1&x=2", "/v1/notice?epoch=1&heard=",
        "/v1/notice?epoch=1&heard=4", "/v1/notice?epoch=1&heard=1&heard=1",
        "/v1/notice?epoch=1&operations=", "/v1/notice?epoch=1&operations=x",
        "/v1/notice?operations=1", "/v1/notice?epoch=1&operations=1&heard=1",
        "/v1/noticed?epoch=1", "/v1/log?epoch=1"}) {
    INFO(bad);
    CHECK_FALSE(ParseNoticeTarget(bad));
  }
}

TEST_CASE("a request says which launch of a worker makes it", "[rendezvous]") {
  for (const Caller& caller :
       {Caller{{"a", 0}, {}}, Caller{{"node-3", 7}, LaunchId{12}}}) {
    CHECK(ParseCaller(FormatCaller(caller)) == caller);
  }
  CHECK(FormatCaller({{"a", 0}, {}}) == "a/0");
  CHECK(FormatCaller({{"a", 0}, LaunchId{5}}) == "a/0#5");
  for (const char* rubbish :
       {"", "a", "a/0#", "a/0#x", "a/0#99999999999", "a/#1", "#1", "a/0#1#2"}) {
    CHECK_FALSE(ParseCaller(rubbish).has_value());
  }
}

}  // namespace hvd
