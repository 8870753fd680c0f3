// Workers that outlive a world, as a user's program meets it: processes that
// link libhvd, and a rendezvous server that publishes as hvdrun would.
#include <catch2/catch.hpp>
#include <csignal>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "collectives/ring_listener.h"
#include "rendezvous/rendezvous_client.h"
#include "tests/support/listeners.h"
#include "tests/support/program.h"
#include "tests/worker/job.h"

namespace hvd {
namespace {

using namespace testing;

using Programs = std::vector<std::unique_ptr<Program>>;

const WorkerId kA0{"a", 0};
const WorkerId kA1{"a", 1};
const WorkerId kA2{"a", 2};

// An elastic job whose workers have all begun.
struct Begun {
  Begun(int slots, const std::string& scene,
        const std::string& until = "committed")
      : Begun(OneHost(slots), scene, until) {}
  Begun(std::vector<WorkerId> workers, const std::string& scene,
        const std::string& until = "committed")
      : job(HVD_ELASTIC_PROBE, std::move(workers), JobKind::kElastic),
        programs(job.StartAll(scene)) {
    for (auto& program : programs) {
      INFO(program->out() << program->err());
      REQUIRE(program->WaitForOutput(until));
    }
  }
  Program& operator[](std::size_t rank) { return *programs[rank]; }

  Job job;
  Programs programs;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The line that begins so, without that beginning; empty if there is none.
std::string LineAfter(const std::string& out, const std::string& begin) {
  const std::size_t at = out.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return out.substr(from, out.find('\n', from) - from);
}

std::string Place(std::uint64_t epoch, int rank, int size) {
  return "epoch=" + std::to_string(epoch) + " rank=" + std::to_string(rank) +
         " size=" + std::to_string(size);
}

// It went on in that place with what was committed, and finished.
void CheckWentOn(Program& program, const std::string& place) {
  const ProgramResult result = program.Wait(kPatient);
  INFO(result.out << result.err);
  CHECK(result.status.success());
  const std::string began = LineAfter(result.out, "begin " + place + " step=");
  CHECK_FALSE(began.empty());
  CHECK(std::atoll(began.c_str()) >= 5);
  CHECK(Contains(result.out, "end " + place));
  CHECK(Contains(result.out, "finished\n"));
}

// A member that the others cannot reach: it has asked for its world, from a
// process that is gone by now.
struct Ghost {
  Ghost(Job& job, const WorkerId& worker)
      : listener(RingListener::Listen("127.0.0.1", HostKeyOf("ghost"))),
        client({"127.0.0.1", job.env().rendezvous_port}, job.key(), worker),
        world(std::async(std::launch::async, [this] {
          return client.WaitWorld(Epoch{0}, listener.value().endpoint(),
                                  SteadyClock().Now() + kPatient);
        })) {}
  ~Ghost() { client.Cancel(); }
  Ghost(const Ghost&) = delete;
  Ghost& operator=(const Ghost&) = delete;

  Result<RingListener> listener;
  RendezvousClient client;
  std::future<Result<Membership>> world;
};

}  // namespace

TEST_CASE("Survivors of a killed worker go on from the last commit",
          "[worker]") {
  Begun t(3, "train2");
  t[1].Signal(SIGKILL);
  t.job.Notify({1, "rank 1 was killed by SIGKILL"});
  t.job.Publish({kA0, kA2});
  CheckWentOn(t[0], Place(2, 0, 2));
  CheckWentOn(t[2], Place(2, 1, 2));
  CHECK(Contains(t[0].out(), "failed: rank 1"));
  CHECK(Contains(LineAfter(t[2].out(), "begin epoch=2"),
                 "pid=" + std::to_string(t[2].pid())));
}

TEST_CASE("The last survivor goes on alone", "[worker]") {
  Begun t(2, "train2");
  t[0].Signal(SIGKILL);
  t.job.Publish({kA1});
  CheckWentOn(t[1], Place(2, 0, 1));
}

TEST_CASE("Survivors on several hosts go on over TCP", "[worker]") {
  const WorkerId b0{"b", 0};
  const WorkerId b1{"b", 1};
  Begun t({kA0, b0, b1}, "train2");
  t[1].Signal(SIGKILL);
  t.job.Notify({1, "rank 1 was killed by SIGKILL"});
  t.job.Publish({kA0, b1});
  CheckWentOn(t[0], Place(2, 0, 2));
  CheckWentOn(t[2], Place(2, 1, 2));
}

TEST_CASE("Survivors listen at their host's new address in the next world",
          "[worker]") {
  const WorkerId b0{"b", 0};
  const WorkerId b1{"b", 1};
  Begun t({kA0, b0, b1}, "train2");
  const int pid = t[2].pid();
  CHECK(ListensAt(pid, "127.0.0.2"));
  t.job.SetRingAddress("b", "127.0.0.3");
  t[1].Signal(SIGKILL);
  t.job.Notify({1, "rank 1 was killed by SIGKILL"});
  t.job.Publish({kA0, b1});
  REQUIRE(t[2].WaitForOutput("begin " + Place(2, 1, 2)));
  CHECK(ListensAt(pid, "127.0.0.3"));
  CHECK_FALSE(ListensAt(pid, "127.0.0.2"));
  CheckWentOn(t[0], Place(2, 0, 2));
  CheckWentOn(t[2], Place(2, 1, 2));
}

TEST_CASE("A survivor gives up when hvdrun is gone", "[worker]") {
  Begun t(2, "train2");
  t.job.StopServer();
  t[0].Signal(SIGKILL);
  const ProgramResult result = t[1].Wait(kPatient);
  INFO(result.out << result.err);
  CHECK(result.status.code == 3);
  CHECK(Contains(result.out, "exception: hvd: join the next world: "));
  CHECK(Contains(result.out, "Connection refused"));
}

TEST_CASE("A worker started again gets the survivors' state", "[worker]") {
  Begun t(2, "train2");
  t[1].Signal(SIGKILL);
  t[1].Wait(kPatient);
  t.job.Publish({kA0, kA1});
  const auto again = t.job.Start(1, "train2");
  CheckWentOn(t[0], Place(2, 0, 2));
  CheckWentOn(*again, Place(2, 1, 2));
  CHECK(LineAfter(again->out(), "end ") ==
        LineAfter(t[0].out(), "end ").replace(8, 6, "rank=1"));
}

TEST_CASE("A newcomer gets the state at the others' next commit", "[worker]") {
  Begun t(2, "train2");
  const auto newcomer = t.job.StartNewcomer(kA2, "train2");
  REQUIRE(newcomer->WaitUntil([&] { return t.job.HasAsked(kA2, Epoch{0}); },
                              kPatient));
  t.job.Publish({kA0, kA1, kA2});
  CheckWentOn(t[0], Place(2, 0, 3));
  CheckWentOn(t[1], Place(2, 1, 3));
  CheckWentOn(*newcomer, Place(2, 2, 3));
  CHECK(Contains(t[0].out(), "updated: the hosts of this job have changed"));
  CHECK_FALSE(Contains(t[0].out(), "failed"));
  CHECK_FALSE(Contains(t[1].out(), "failed"));
}

TEST_CASE("Workers leave together when the hosts change and wait for a world",
          "[worker]") {
  Begun t(2, "check", "begin");
  t.job.Notify({std::nullopt, "host b was added"});
  REQUIRE(t[0].WaitUntil(
      [&] {
        return t.job.HasAsked(kA0, Epoch{1}) && t.job.HasAsked(kA1, Epoch{1});
      },
      kPatient));
  t.job.Publish({kA0, kA1});
  for (const int rank : {0, 1}) {
    const ProgramResult result =
        t[static_cast<std::size_t>(rank)].Wait(kPatient);
    INFO(result.out);
    CHECK(result.status.success());
    CHECK(Contains(result.out, "begin " + Place(2, rank, 2) + " kept\n"));
    CHECK_FALSE(Contains(result.out, "failed"));
  }
}

TEST_CASE("A removed worker is told so and may exit in order", "[worker]") {
  Begun t(3, "train2");
  t.job.Publish({kA0, kA2});
  const ProgramResult removed = t[1].Wait(kPatient);
  INFO(removed.out << removed.err);
  CHECK(removed.status.success());
  CHECK(Contains(removed.out, "updated"));
  CHECK(Contains(removed.out, "removed\n"));
  CheckWentOn(t[0], Place(2, 0, 2));
  CheckWentOn(t[2], Place(2, 1, 2));
}

TEST_CASE("Those who wait for a world get the one after it when a member dies",
          "[worker]") {
  Begun t(3, "train3");
  t[2].Signal(SIGKILL);
  t.job.Publish({kA0, kA1, kA2});  // its third was to be started again
  REQUIRE(t[0].WaitUntil(
      [&] {
        return t.job.HasAsked(kA0, Epoch{1}) && t.job.HasAsked(kA1, Epoch{1});
      },
      kPatient));
  t.job.Publish({kA0, kA1});
  CheckWentOn(t[0], Place(3, 0, 2));
  CheckWentOn(t[1], Place(3, 1, 2));
  CHECK_FALSE(Contains(t[0].out(), "epoch=2"));
}

TEST_CASE("A member's death while the ring forms holds nobody up", "[worker]") {
  for (const bool told : {true, false}) {
    INFO((told ? "told of the loss" : "told of the next world only"));
    Begun t(2, "train3");
    Ghost ghost(t.job, kA2);
    t.job.Publish({kA0, kA1, kA2});
    REQUIRE(ghost.world.get().ok());  // so the others have it too
    const Instant died = SteadyClock().Now();
    if (told) {
      t.job.Notify({2, "rank 2 was killed by SIGKILL"});
      REQUIRE(t[0].WaitUntil(
          [&] {
            return t.job.HasAsked(kA0, Epoch{2}) &&
                   t.job.HasAsked(kA1, Epoch{2});
          },
          kPatient));
    }
    t.job.Publish({kA0, kA1});
    CheckWentOn(t[0], Place(3, 0, 2));
    CheckWentOn(t[1], Place(3, 1, 2));
    CHECK(SteadyClock().Now() - died < std::chrono::seconds(10));
  }
}

TEST_CASE("A newcomer's first ring may be given up for the next", "[worker]") {
  Job job(HVD_ELASTIC_PROBE, OneHost(3), JobKind::kElastic);
  Ghost ghost(job, kA2);
  const auto first = job.Start(0, "train2");
  const auto second = job.Start(1, "train2");
  REQUIRE(ghost.world.get().ok());
  job.Notify({2, "rank 2 was killed by SIGKILL"});
  job.Publish({kA0, kA1});
  for (Program* program : {first.get(), second.get()}) {
    const ProgramResult result = program->Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    CHECK(Contains(result.out, "begin epoch=2"));
  }
}

TEST_CASE("Changed hosts end no collective, a loss told afterwards does",
          "[worker]") {
  Begun t(3, "stuck", "begin");
  t.job.Notify({std::nullopt, "host b was added"});
  t.job.Notify({.lost_rank = 1,
                .text = "rank 1 is lost: its host does not answer",
                .silent = true});
  t.job.Publish({kA0, kA2});
  for (const std::size_t rank : {0U, 2U}) {
    const ProgramResult result = t[rank].Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    CHECK(Contains(result.out,
                   "failed: rank 1 is lost: its host does not answer\n"));
    CHECK(Contains(result.out, "begin epoch=2"));
  }
}

TEST_CASE("Each sample counts once though a rank dies and another comes",
          "[worker]") {
  Begun t(3, "sample", "begin");
  CHECK(t[1].Wait(kPatient).status.signal == SIGKILL);
  t.job.Publish({kA0, kA2, kA1});
  const auto again = t.job.Start(2, "sample");
  for (Program* program : {&t[0], &t[2], again.get()}) {
    const ProgramResult result = program->Wait(kPatient);
    INFO(result.out << result.err);
    CHECK(result.status.success());
    CHECK(Contains(result.out, "each once\nfinished\n"));
    CHECK_FALSE(Contains(result.out, "epoch=2 rank=0 size=3 done=0\n"));
  }
}

TEST_CASE("Ranks that make different calls end an elastic job", "[worker]") {
  Job job(HVD_ELASTIC_PROBE, OneHost(2), JobKind::kElastic);
  for (auto& program : job.StartAll("mismatch")) {
    const ProgramResult result = program->Wait(kPatient);
    INFO(result.out);
    CHECK(result.status.code == 3);
    CHECK(Contains(result.out, "exception: ranks disagree: "));
  }
}

TEST_CASE("In a static job a failure passes through RunElastic", "[worker]") {
  Job job(HVD_ELASTIC_PROBE, OneHost(2));
  auto programs = job.StartAll("death");
  const ProgramResult result = programs[0]->Wait(kPatient);
  INFO(result.out);
  CHECK(result.status.code == 3);
  CHECK(Contains(result.out, "exception: rank 1 died"));
}

TEST_CASE("Without hvdrun RunElastic runs its function once", "[worker]") {
  CHECK(RunProgram({HVD_ELASTIC_PROBE, "once"}).out == "finished\nruns=1\n");
  CHECK(RunProgram({HVD_ELASTIC_PROBE, "sample"}).out ==
        "begin epoch=1 rank=0 size=1 done=0\neach once\nfinished\n");
  CHECK(RunProgram({HVD_ELASTIC_PROBE, "nested"}).out ==
        "exception: hvd: RunElastic was called within RunElastic\n");
}

}  // namespace hvd
