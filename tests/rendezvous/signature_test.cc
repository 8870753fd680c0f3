#include "rendezvous/signature.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace hvd {
namespace {

const SessionNonces kNonces{std::string(16, 'c'), std::string(16, 's')};
constexpr std::string_view kKey = "the job's key";

RequestToSign Request() {
  return {.method = "POST",
          .target = "/v1/world",
          .worker = "a/0",
          .sequence = 1,
          .body_digest = "d1"};
}

}  // namespace

TEST_CASE("BodyDigest is SHA-256 in hexadecimal", "[rendezvous]") {
  CHECK(BodyDigest("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("signatures are as the protocol page says", "[rendezvous]") {
  // docs/design/rendezvous_protocol.md gives these to authors of clients.
  const SessionNonces nonces{
      std::string("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d"
                  "\x0e\x0f",
                  16),
      std::string(16, '\xff')};
  const std::string request = SignRequest("key", nonces,
                                          {.method = "GET",
                                           .target = "/v1/notice?epoch=1",
                                           .worker = "node-3/0",
                                           .sequence = 1,
                                           .body_digest = BodyDigest("")});
  CHECK(request ==
        "7ea75c009c19ca12a85fffc033092b8318ac54319d5378cb1bbd0ba3e963f104");
  CHECK(SignAnswer("key", request, 204, BodyDigest("")) ==
        "ac48a7226b5ee268401aec4a763da564a3206f9aac3d09ec9dc173bacd1184d8");
}

TEST_CASE("every part of a request changes its signature", "[rendezvous]") {
  const std::string signature = SignRequest(kKey, kNonces, Request());
  std::vector<RequestToSign> others(5, Request());
  others[0].method = "PUT";
  others[1].target = "/v1/worlds";
  others[2].worker = "a/1";
  others[3].sequence = 2;
  others[4].body_digest = "d2";
  for (const RequestToSign& other : others) {
    CHECK(SignRequest(kKey, kNonces, other) != signature);
  }
  CHECK(SignRequest("another key", kNonces, Request()) != signature);
  CHECK(SignRequest(kKey, {kNonces.server, kNonces.client}, Request()) !=
        signature);
}

TEST_CASE("bytes cannot move from one part of a request to the next",
          "[rendezvous]") {
  RequestToSign left = Request();
  left.method = "PO";
  left.target = "ST/v1/world";
  CHECK(SignRequest(kKey, kNonces, left) !=
        SignRequest(kKey, kNonces, Request()));
}

TEST_CASE("an answer's signature is bound to request, status and body",
          "[rendezvous]") {
  const std::string signature = SignAnswer(kKey, "r1", 200, "d1");
  CHECK(SignAnswer(kKey, "r2", 200, "d1") != signature);
  CHECK(SignAnswer(kKey, "r1", 204, "d1") != signature);
  CHECK(SignAnswer(kKey, "r1", 200, "d2") != signature);
  CHECK(SignAnswer("another key", "r1", 200, "d1") != signature);
}

TEST_CASE("a session takes each sequence number once, in growing order",
          "[rendezvous]") {
  Session session(kNonces);
  const auto refuse = [&](std::uint64_t sequence) {
    RequestToSign request = Request();
    request.sequence = sequence;
    return session.Refuse(kKey, request, SignRequest(kKey, kNonces, request))
        .has_value();
  };
  CHECK(refuse(0));
  CHECK_FALSE(refuse(1));
  CHECK(refuse(1));
  CHECK_FALSE(refuse(5));
  CHECK(refuse(4));
  CHECK_FALSE(refuse(~std::uint64_t{0}));
  CHECK(refuse(6));
}

TEST_CASE("a forged request does not use up a sequence number",
          "[rendezvous]") {
  Session session(kNonces);
  RequestToSign request = Request();
  request.sequence = 100;
  CHECK(session.Refuse(kKey, request, std::string(64, '0')));
  CHECK(session.Refuse(kKey, request, ""));
  CHECK_FALSE(
      session.Refuse(kKey, Request(), SignRequest(kKey, kNonces, Request())));
}

TEST_CASE("a request of another session is refused", "[rendezvous]") {
  Session other({kNonces.client, std::string(16, 't')});
  CHECK(other.Refuse(kKey, Request(), SignRequest(kKey, kNonces, Request())));
}

}  // namespace hvd
