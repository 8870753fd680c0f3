// The forms in which ranks talk: records, calls, handshake messages.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "collectives/call.h"
#include "collectives/link_handshake.h"
#include "collectives/patience.h"
#include "collectives/ring_record.h"

namespace hvd {
namespace {

RingRecord SampleRecord() {
  return {.kind = RingRecord::Kind::kVerdict,
          .origin = 3,
          .operations = 12,
          .failure = {2, ErrorCode::kTimeout, "rank 2 fell silent"}};
}

}  // namespace

TEST_CASE("A record survives the wire in pieces of any length",
          "[collectives]") {
  const std::string bytes = EncodeRecord(SampleRecord());
  const std::string two = bytes + bytes;
  for (std::size_t cut = 0; cut <= two.size(); ++cut) {
    std::string received = two.substr(0, cut);
    int whole = 0;
    for (;;) {
      const auto record = TakeRecord(received);
      REQUIRE(record.ok());
      if (!record.value()) break;
      ++whole;
      CHECK(record.value()->origin == 3);
      CHECK(record.value()->operations == 12);
      CHECK(record.value()->failure.rank == 2);
      CHECK(record.value()->failure.code == ErrorCode::kTimeout);
      CHECK(record.value()->failure.text == "rank 2 fell silent");
    }
    CHECK(whole == static_cast<int>(cut / bytes.size()));
  }
}

TEST_CASE("Bytes that are no record are refused, not waited for",
          "[collectives]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = EncodeRecord(SampleRecord());
    bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto record = TakeRecord(bytes);
    if (record.ok() && record.value()) {
      REQUIRE(record.value()->failure.text.size() <= kMaxFailureText);
    }
  }
  std::string garbage(24, '\xff');
  CHECK_FALSE(TakeRecord(garbage).ok());
}

TEST_CASE("A failure's text is cut to its limit on the wire", "[collectives]") {
  RingRecord record = SampleRecord();
  record.failure.text.assign(kMaxFailureText + 500, 'x');
  std::string bytes = EncodeRecord(record);
  const auto back = TakeRecord(bytes);
  REQUIRE(back.ok());
  CHECK(back.value()->failure.text.size() == kMaxFailureText);
}

TEST_CASE("A mismatch names both ranks, both calls and the operation",
          "[collectives]") {
  const CallHeader left{.operation = 7,
                        .count = 100,
                        .call = Call::kAllReduce,
                        .type = DataType::kFloat32,
                        .op = ReduceOp::kSum};
  CallHeader right{.operation = 7,
                   .count = 3,
                   .root = 1,
                   .call = Call::kBroadcast,
                   .type = DataType::kInt64};
  CHECK(DescribeMismatch(1, left, 2, right) ==
        "ranks disagree: rank 1 called allreduce f32 sum count=100, rank 2 "
        "called broadcast i64 count=3 root=1 as operation 7");
  right.operation = 8;
  CHECK(
      DescribeMismatch(1, left, 2, right) ==
      "ranks disagree: rank 1 called allreduce f32 sum count=100 as operation "
      "7, rank 2 called broadcast i64 count=3 root=1 as operation 8");
}

TEST_CASE("A call of unknown form is described, not trusted", "[collectives]") {
  CallHeader call;
  call.call = static_cast<Call>(99);
  call.type = static_cast<DataType>(98);
  CHECK(Describe(call) == "unknown-call unknown-type count=0");
}

TEST_CASE("Handshake proofs hold for one key, one role and one exchange",
          "[collectives]") {
  const LinkIdentity identity{.epoch = 3, .size = 4, .from = 1, .to = 2};
  const Hello hello = MakeHello(identity, LinkPurpose::kControl);
  const Challenge challenge = MakeChallenge("key", hello);
  CHECK(IsProven("key", hello, challenge));
  CHECK_FALSE(IsProven("another", hello, challenge));
  const Proof proof = MakeProof("key", hello, challenge);
  CHECK(IsProven("key", hello, challenge, proof));
  CHECK_FALSE(IsProven("another", hello, challenge, proof));
  Proof reflected{};
  reflected.proof = challenge.proof;
  CHECK_FALSE(IsProven("key", hello, challenge, reflected));
  const Hello again = MakeHello(identity, LinkPurpose::kControl);
  CHECK_FALSE(IsProven("key", again, challenge));
  CHECK_FALSE(IsProven("key", hello, MakeChallenge("key", hello), proof));
}

TEST_CASE("A hello fits one world, one direction and one pair of ranks",
          "[collectives]") {
  const LinkIdentity identity{.epoch = 3, .size = 4, .from = 1, .to = 2};
  const Hello hello = MakeHello(identity, LinkPurpose::kData);
  CHECK(Matches(hello, identity, LinkPurpose::kData));
  CHECK_FALSE(Matches(hello, {.epoch = 2, .size = 4, .from = 1, .to = 2},
                      LinkPurpose::kData));
  CHECK_FALSE(Matches(hello, {.epoch = 3, .size = 5, .from = 1, .to = 2},
                      LinkPurpose::kData));
  CHECK_FALSE(Matches(hello, {.epoch = 3, .size = 4, .from = 2, .to = 1},
                      LinkPurpose::kData));
  Hello other = hello;
  other.magic[7] = '1';
  CHECK_FALSE(Matches(other, identity, LinkPurpose::kData));
  other = hello;
  other.purpose = static_cast<LinkPurpose>(3);
  CHECK_FALSE(Matches(other, identity, LinkPurpose::kData));
}

TEST_CASE("Patience ends at its limit but not because of a stop",
          "[collectives]") {
  const Instant start{};
  Patience patience(Duration{2500});
  patience.Restart(start);
  CHECK(patience.NextSlice(start) == Patience::kSlice);
  CHECK(patience.NextSlice(start + Duration{2400}) == Duration{100});
  CHECK_FALSE(patience.NextSlice(start + Duration{2500}));
  // A minute of Ctrl-Z in a sleep of one second.
  const Instant resumed = start + Duration{60'000};
  patience.Slept(start, resumed, Duration{1000});
  CHECK(patience.NextSlice(resumed) == Patience::kSlice);
  CHECK_FALSE(patience.NextSlice(resumed + Duration{1500}));
}

}  // namespace hvd
