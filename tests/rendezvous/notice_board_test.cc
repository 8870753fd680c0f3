#include "rendezvous/notice_board.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace std::chrono_literals;

namespace hvd {
namespace {

const Instant kStart{};
const WorldNotice kDied{2, "rank 2 was killed by SIGKILL"};

NoticeBoard Published(std::uint64_t epoch) {
  NoticeBoard board;
  board.Publish(Epoch{epoch});
  return board;
}

}  // namespace

TEST_CASE("a notice ends the waits of its epoch", "[rendezvous]") {
  NoticeBoard board = Published(1);
  CHECK_FALSE(board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s));
  CHECK_FALSE(board.Ask(Waiter{2}, {Epoch{1}}, kStart + 30s));
  const auto releases = board.Notify(Epoch{1}, kDied);
  REQUIRE(releases.size() == 2);
  CHECK(releases[0].waiter == Waiter{1});
  CHECK(releases[1].waiter == Waiter{2});
  CHECK(releases[0].notice == kDied);
}

TEST_CASE("who asks after the notice gets it at once", "[rendezvous]") {
  NoticeBoard board = Published(1);
  board.Notify(Epoch{1}, kDied);
  CHECK(board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s) == kDied);
  board.Publish(Epoch{2});
  CHECK(board.Ask(Waiter{2}, {Epoch{1}}, kStart + 30s) == kDied);
}

TEST_CASE("the first notice of an epoch is the one that counts",
          "[rendezvous]") {
  NoticeBoard board = Published(1);
  board.Notify(Epoch{1}, kDied);
  board.Notify(Epoch{1}, {3, "rank 3 followed"});
  CHECK(board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s) == kDied);
}

TEST_CASE("a new world is the notice of the old one", "[rendezvous]") {
  NoticeBoard board = Published(1);
  CHECK_FALSE(board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s));
  const auto releases = board.Publish(Epoch{2});
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].notice ==
        WorldNotice{std::nullopt,
                    "the world of epoch 1 was replaced by epoch 2", true});
  CHECK_FALSE(board.Ask(Waiter{2}, {Epoch{2}}, kStart + 30s));
}

TEST_CASE("who has heard of a change hears of what is worse", "[rendezvous]") {
  const WorldNotice change{std::nullopt, "host b was added"};
  const NoticeBoard::Question none{Epoch{1}};
  const NoticeBoard::Question changed{Epoch{1}, NoticeKind::kHostsChanged};
  const NoticeBoard::Question replaced{Epoch{1}, NoticeKind::kReplaced};
  const NoticeBoard::Question lost{Epoch{1}, NoticeKind::kRankLost};
  NoticeBoard board = Published(1);
  CHECK_FALSE(board.Ask(Waiter{1}, none, kStart + 30s));
  CHECK_FALSE(board.Ask(Waiter{2}, changed, kStart + 30s));
  CHECK(board.Notify(Epoch{1}, change).size() == 1);
  CHECK(board.Notify(Epoch{1}, {std::nullopt, "host c too"}).empty());
  CHECK(board.Ask(Waiter{1}, none, kStart + 30s) == change);
  CHECK_FALSE(board.Ask(Waiter{3}, replaced, kStart + 30s));
  const auto told = board.Publish(Epoch{2});
  REQUIRE(told.size() == 1);
  CHECK(told[0].waiter == Waiter{2});
  CHECK(told[0].notice == WorldNotice{std::nullopt, change.text, true});
  CHECK(board.Ask(Waiter{2}, none, kStart + 30s)->replaced);
  CHECK_FALSE(board.Ask(Waiter{4}, lost, kStart + 30s));
  const auto end = board.Notify(Epoch{1}, kDied);
  REQUIRE(end.size() == 1);
  CHECK(end[0].waiter == Waiter{3});
  CHECK(end[0].notice == kDied);
  CHECK(board.Ask(Waiter{5}, changed, kStart + 30s) == kDied);
}

TEST_CASE("a wait for a notice ends at its time", "[rendezvous]") {
  NoticeBoard board = Published(1);
  board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s);
  CHECK(board.Expire(kStart + 29s).empty());
  const auto releases = board.Expire(kStart + 30s);
  REQUIRE(releases.size() == 1);
  CHECK_FALSE(releases[0].notice);
  CHECK(board.Notify(Epoch{1}, kDied).empty());
}

TEST_CASE("who left is not answered", "[rendezvous]") {
  NoticeBoard board = Published(1);
  board.Ask(Waiter{1}, {Epoch{1}}, kStart + 30s);
  board.Leave(Waiter{1});
  CHECK(board.Notify(Epoch{1}, kDied).empty());
}

TEST_CASE("only the last few notices are kept", "[rendezvous]") {
  NoticeBoard board;
  for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) {
    board.Publish(Epoch{epoch});
    board.Notify(Epoch{epoch}, kDied);
  }
  CHECK(board.Ask(Waiter{1}, {Epoch{100}}, kStart) == kDied);
  CHECK(board.Ask(Waiter{1}, {Epoch{1}}, kStart)->lost_rank == std::nullopt);
}

}  // namespace hvd
