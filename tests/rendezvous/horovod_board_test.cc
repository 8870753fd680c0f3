#include "rendezvous/horovod_board.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hvd {
namespace {

using Effects = HorovodBoard::Effects;
using Places = std::vector<std::pair<Waiter, std::string>>;
using Ready = std::vector<std::pair<WorkerId, Epoch>>;

constexpr const char* kNotWanted = "-1,-1,-1,-1,-1,-1";

const WorkerId kA0{"a", 0};
const WorkerId kA1{"a", 1};
const WorkerId kB0{"b", 0};
const WorkerId kC0{"c", 0};

Waiter W(std::uint64_t number) { return Waiter{number}; }

HorovodListener ListenerAt(std::uint16_t port) {
  return {{{"127.0.0.1", port}}, std::string(32, 'k')};
}

// A job whose first world is in training, and whose workers said that they are
// elastic Horovod workers.
struct Job {
  explicit Job(const std::vector<WorkerId>& workers) {
    Publish(1, workers);
    board.Started({workers, {Epoch{1}, workers}});
    std::uint16_t port = 1;
    std::map<std::string, int> local;
    for (const WorkerId& worker : workers) {
      const int local_rank = local[worker.host]++;
      board.Register(worker.host + ':' + std::to_string(local_rank),
                     ListenerAt(port++));
    }
  }

  Effects Publish(std::uint64_t epoch, const std::vector<WorkerId>& workers) {
    return board.Publish({Epoch{epoch}, workers});
  }
  // A newcomer that was shown this plan.
  void Start(const WorkerId& worker, const std::vector<WorkerId>& plan) {
    board.Started({{worker}, {Epoch{}, plan}});
  }
  Effects Announce(std::uint64_t waiter, int rank) {
    const auto effects = board.Announce(W(waiter), rank);
    REQUIRE(effects);
    return *effects;
  }

  HorovodBoard board;
};

}  // namespace

TEST_CASE("the first world is there before its workers", "[rendezvous][unit]") {
  HorovodBoard board;
  CHECK(board.Publish({Epoch{1}, {kA0, kB0}}).handed_out);
  board.Started({{kA0, kB0}, {Epoch{1}, {kA0, kB0}}});
  CHECK_FALSE(board.Announce(W(1), 0));
  CHECK_FALSE(board.Announce(W(2), 1));
}

TEST_CASE("workers are ready when one shows that it is an elastic Horovod one",
          "[rendezvous][unit]") {
  HorovodBoard board;
  board.Publish({Epoch{1}, {kA0, kB0}});
  board.Started({{kA0, kB0}, {Epoch{1}, {kA0, kB0}}});
  const Effects first = board.Register("b:0", ListenerAt(5));
  CHECK(first.ready == Ready{{kA0, Epoch{}}, {kB0, Epoch{}}});
  CHECK(board.Register("a:0", ListenerAt(6)).ready.empty());
}

TEST_CASE("a survivor waits for its place until all others have come",
          "[rendezvous][unit]") {
  Job job({kA0, kB0, kC0});
  job.board.Ended(kB0);
  const Effects asked = job.board.Ask(W(1), "c:0");
  CHECK(asked.ready == Ready{{kC0, Epoch{1}}});
  CHECK(asked.places.empty());
  CHECK_FALSE(job.Publish(2, {kA0, kC0}).handed_out);
  const Effects last = job.board.Ask(W(2), "a:0");
  CHECK(last.handed_out);
  CHECK(last.places == Places{{W(2), "0,2,0,1,0,2"}, {W(1), "1,2,0,1,1,2"}});
  CHECK(job.board.current().epoch == Epoch{2});
}

TEST_CASE("a place may be asked for before there is a new world",
          "[rendezvous][unit]") {
  Job job({kA0, kA1});
  job.board.Ask(W(1), "a:1");
  CHECK(job.board.Ended(kA0).places.empty());
  const Effects published = job.Publish(2, {kA1});
  CHECK(published.handed_out);
  CHECK(published.places == Places{{W(1), "0,1,0,1,0,1"}});
  // It asks as what it is now.
  CHECK(job.board.Ask(W(2), "a:0").ready == Ready{{kA1, Epoch{2}}});
}

TEST_CASE("who is wanted no more is told so when the others go on",
          "[rendezvous][unit]") {
  Job job({kA0, kB0});
  job.Publish(2, {kA0});
  CHECK(job.board.Ask(W(1), "b:0").places.empty());
  const Effects out = job.board.Ask(W(2), "a:0");
  CHECK(out.places == Places{{W(2), "0,1,0,1,0,1"}, {W(1), kNotWanted}});
}

TEST_CASE("the others wait for a leaver to ask or to end",
          "[rendezvous][unit]") {
  Job job({kA0, kB0});
  job.Publish(2, {kA0});
  CHECK(job.board.Ask(W(1), "a:0").places.empty());
  CHECK(job.board.Ended(kB0).places == Places{{W(1), "0,1,0,1,0,1"}});
}

TEST_CASE("whoever is no worker of the world is answered at once",
          "[rendezvous][unit]") {
  Job job({kA0});
  for (const char* key : {"z:0", "a:1", "a", "", "a:0:0", "a:-1"}) {
    CHECK(job.board.Ask(W(9), key).places == Places{{W(9), kNotWanted}});
  }
}

TEST_CASE("a newcomer stands at the door while the others train",
          "[rendezvous][unit]") {
  Job job({kA0});
  job.Start(kB0, {kA0, kB0});
  const Effects announced = job.Announce(7, 1);
  CHECK(announced.ready == Ready{{kB0, Epoch{}}});
  CHECK(announced.admitted.empty());
  CHECK(job.board.WhomToTell() == nullptr);
  job.Publish(2, {kA0, kB0});
  REQUIRE(job.board.WhomToTell() != nullptr);
  CHECK(job.board.WhomToTell()->addresses.front().port == 1);
  const Effects out = job.board.Ask(W(8), "a:0");
  CHECK(out.handed_out);
  CHECK(out.admitted == std::vector<Waiter>{W(7)});
  CHECK(out.places == Places{{W(8), "0,2,0,1,0,2"}});
  CHECK(job.board.WhomToTell() == nullptr);
}

TEST_CASE("newcomers of one plan are ready together", "[rendezvous][unit]") {
  Job job({kA0});
  job.board.Started({{kB0, kC0}, {Epoch{}, {kA0, kB0, kC0}}});
  CHECK(job.Announce(1, 2).ready.empty());
  CHECK(job.Announce(2, 1).ready == Ready{{kB0, Epoch{}}, {kC0, Epoch{}}});
}

TEST_CASE("a later newcomer is ready once the world before its own is there",
          "[rendezvous][unit]") {
  Job job({kA0});
  job.Start(kB0, {kA0, kB0});
  job.Start(kC0, {kA0, kB0, kC0});
  CHECK(job.Announce(1, 2).ready.empty());
  CHECK(job.Announce(2, 1).ready == Ready{{kB0, Epoch{}}});
  CHECK(job.Publish(2, {kA0, kB0}).misplaced.empty());
  const Effects out = job.board.Ask(W(3), "a:0");
  CHECK(out.admitted == std::vector<Waiter>{W(2)});
  CHECK(out.ready == Ready{{kA0, Epoch{1}}, {kC0, Epoch{}}});
}

TEST_CASE("a newcomer whose world will not be is misplaced",
          "[rendezvous][unit]") {
  Job job({kA0, kA1});
  job.Start(kB0, {kA0, kA1, kB0});
  job.Announce(1, 2);
  job.board.Ended(kA1);
  const Effects published = job.Publish(2, {kA0});
  CHECK(published.misplaced == std::vector<WorkerId>{kB0});
  // No world is handed out while it could speak.
  CHECK_FALSE(job.board.Ask(W(2), "a:0").handed_out);
  job.board.Leave(W(1));
  const Effects ended = job.board.Ended(kB0);
  CHECK(ended.places == Places{{W(2), "0,1,0,1,0,1"}});
}

TEST_CASE("newcomers whose companion dies are misplaced",
          "[rendezvous][unit]") {
  Job job({kA0});
  job.board.Started({{kA1, kB0}, {Epoch{}, {kA0, kA1, kB0}}});
  job.Start(kC0, {kA0, kA1, kB0, kC0});
  job.Announce(1, 2);
  CHECK(job.board.Ended(kA1).misplaced == std::vector<WorkerId>{kB0, kC0});
}

TEST_CASE("a newcomer that got another place than it was shown is misplaced",
          "[rendezvous][unit]") {
  Job job({kA0, kA1});
  job.Start(kB0, {kA0, kA1, kB0});
  job.Announce(1, 2);
  job.board.Ended(kA1);
  CHECK(job.Publish(2, {kA0, kB0}).misplaced == std::vector<WorkerId>{kB0});
  CHECK_FALSE(job.board.Ask(W(2), "a:0").handed_out);
  job.board.Ended(kB0);
  CHECK(job.Publish(3, {kA0}).handed_out);
}

TEST_CASE("who waits is ready for the world after one that was given up",
          "[rendezvous][unit]") {
  Job job({kA0, kB0, kC0});
  job.Publish(2, {kA0, kB0});
  job.board.Ask(W(1), "a:0");
  job.board.Ended(kB0);
  const Effects published = job.Publish(3, {kA0});
  CHECK(published.ready == Ready{{kA0, Epoch{1}}});
  CHECK(job.board.Ended(kC0).places == Places{{W(1), "0,1,0,1,0,1"}});
}

TEST_CASE("a slot that is started again is a newcomer", "[rendezvous][unit]") {
  Job job({kA0, kA1});
  job.board.Ended(kA0);
  job.Publish(2, {kA1});
  CHECK(job.board.Ask(W(1), "a:1").places == Places{{W(1), "0,1,0,1,0,1"}});
  job.Start(kA0, {kA1, kA0});
  CHECK(job.Announce(2, 1).ready == Ready{{kA0, Epoch{}}});
  job.Publish(3, {kA1, kA0});
  const Effects out = job.board.Ask(W(3), "a:0");
  CHECK(out.places == Places{{W(3), "0,2,0,2,0,1"}});
  CHECK(out.admitted == std::vector<Waiter>{W(2)});
  // Both have had local rank 1 at their start; who has spoken for itself has.
  job.board.Register("a:1", ListenerAt(99));
  job.board.Ended(kA1);
  job.Publish(4, {kA0});
  CHECK(job.board.WhomToTell() == nullptr);
}

TEST_CASE("a worker that asks on two connections is answered on the later one",
          "[rendezvous][unit]") {
  Job job({kA0, kB0});
  job.board.Ask(W(1), "a:0");
  CHECK(job.board.Ask(W(2), "a:0").replaced == std::vector<Waiter>{W(1)});
  job.board.Leave(W(1));
  job.board.Ended(kB0);
  CHECK(job.Publish(2, {kA0}).places == Places{{W(2), "0,1,0,1,0,1"}});
}

TEST_CASE("a question that is withdrawn holds up the world",
          "[rendezvous][unit]") {
  Job job({kA0, kB0});
  job.board.Ask(W(1), "a:0");
  job.board.Ended(kB0);
  job.board.Leave(W(1));
  CHECK_FALSE(job.Publish(2, {kA0}).handed_out);
  CHECK(job.board.Ask(W(2), "a:0").handed_out);
}

TEST_CASE("rank 0 is told of a new world once it can be, until it comes",
          "[rendezvous][unit]") {
  HorovodBoard board;
  board.Publish({Epoch{1}, {kA0, kB0}});
  board.Started({{kA0, kB0}, {Epoch{1}, {kA0, kB0}}});
  board.Register("b:0", ListenerAt(2));
  board.Publish({Epoch{2}, {kA0}});
  CHECK(board.WhomToTell() == nullptr);  // rank 0 cannot be reached yet
  board.Register("a:0", ListenerAt(1));
  REQUIRE(board.WhomToTell() != nullptr);
  CHECK(board.WhomToTell()->addresses.front().port == 1);
  board.Ask(W(1), "a:0");
  CHECK(board.WhomToTell() == nullptr);
}

TEST_CASE("nothing is said of workers that are not Horovod's",
          "[rendezvous][unit]") {
  HorovodBoard board;
  board.Publish({Epoch{1}, {kA0, kA1}});
  board.Started({{kA0, kA1}, {Epoch{1}, {kA0, kA1}}});
  board.Started({{kB0}, {Epoch{}, {kA0, kA1, kB0}}});
  const Effects published = board.Publish({Epoch{2}, {kA0}});
  CHECK(published.ready.empty());
  CHECK(published.misplaced.empty());
  CHECK_FALSE(published.handed_out);
}

}  // namespace hvd
