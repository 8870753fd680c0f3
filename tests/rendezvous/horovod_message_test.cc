#include "rendezvous/horovod_message.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/base64.h"
#include "base/hex.h"
#include "base/hmac_sha256.h"

namespace hvd {
namespace {

using Address = HorovodListener::Address;

std::string Key() {
  std::string key;
  for (char c = 0; c < 32; ++c) key += c;
  return key;
}

// As Python 3.11 sent them, for {'lo': [('127.0.0.1', 52232)]}, and for two
// interfaces of which the second has two addresses.
constexpr const char* kOneInterface =
    "gAWVQgAAAAAAAAB9lIwCbG+UXZSMCTEyNy4wLjAuMZRNCMyGlGFzQyAAAQIDBAUGBwgJCgsMDQ"
    "4PEBESExQVFhcYGRobHB0eH5SGlC4=";
constexpr const char* kTwoInterfaces =
    "gAWVbgAAAAAAAAB9lCiMAmxvlF2UjAkxMjcuMC4wLjGUTQjMhpRhjARldGgwlF2UKIwIMTAuMC"
    "4wLjWUTQjMhpSMCDEwLjAuMC42lE0IzIaUZXVDIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ"
    "GhscHR4flIaULg==";

std::string ToBase64(const std::string& bytes) {
  constexpr const char* kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U |
              (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j])
                                    : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool there = i + j <= bytes.size();
      text += there ? kAlphabet[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return text;
}

// A pickle, spelled as bytes.
bool IsRefused(const std::string& pickle) {
  REQUIRE(FromBase64(ToBase64(pickle)) == pickle);
  return !ParseWorkerAddresses(ToBase64(pickle)).has_value();
}

std::string KeyOpcode() { return "C\x20" + Key(); }

}  // namespace

TEST_CASE("a worker's addresses are read from what Python sends",
          "[rendezvous][unit]") {
  const auto one = ParseWorkerAddresses(kOneInterface);
  REQUIRE(one);
  CHECK(one->key == Key());
  CHECK(one->addresses == std::vector<Address>{{"127.0.0.1", 52232}});
  const auto two = ParseWorkerAddresses(kTwoInterfaces);
  REQUIRE(two);
  CHECK(two->addresses == std::vector<Address>{{"127.0.0.1", 52232},
                                               {"10.0.0.5", 52232},
                                               {"10.0.0.6", 52232}});
}

TEST_CASE("an address that comes twice in a pickle is recalled",
          "[rendezvous][unit]") {
  using namespace std::string_literals;
  // {'lo': [('h', 300), (memo 0: 'h', 7)]}
  const std::string pickle =
      "\x80\x04}\x8c\x02lo](\x8c\x01h\x94M\x2c\x01\x86"s + "h\x00K\x07\x86"s +
      "es" + KeyOpcode() + "\x86.";
  const auto listener = ParseWorkerAddresses(ToBase64(pickle));
  REQUIRE(listener);
  CHECK(listener->addresses == std::vector<Address>{{"h", 300}, {"h", 7}});
}

TEST_CASE("a pickle that would call anything is refused",
          "[rendezvous][unit]") {
  // CVE-2024-10190, and the other ways in which a pickle reaches a function.
  CHECK(IsRefused("cposix\nsystem\n(S'id'\ntR."));
  CHECK(IsRefused("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R."));
  CHECK(IsRefused("(S'id'\niposix\nsystem\n."));
  CHECK(IsRefused("\x80\x02)\x81}b."));
  CHECK(IsRefused("\x82\x01."));
  CHECK(IsRefused("P0\n."));
  CHECK_FALSE(ParseWorkerAddresses("cposix\nsystem\n(S'id'\ntR."));
}

TEST_CASE("a pickle of another shape than a worker's addresses is refused",
          "[rendezvous][unit]") {
  const std::string address = "\x8c\x01hK\x07\x86";
  const std::string good =
      "\x80\x04}\x8c\x02lo]" + address + "as" + KeyOpcode() + "\x86.";
  REQUIRE_FALSE(IsRefused(good));
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("cut after " << length << " bytes");
    CHECK(IsRefused(good.substr(0, length)));
  }
  CHECK(IsRefused(good + "."));
  CHECK(IsRefused("\x80\x04}" + KeyOpcode() + "\x86."));  // no address
  CHECK(IsRefused("\x80\x04]" + KeyOpcode() + "\x86."));  // no dict
  CHECK(IsRefused("\x80\x04}\x8c\x02lo]" + address + "asC\x01k\x86."));
  CHECK(
      IsRefused("\x80\x04}\x8c\x02lo]\x8c\x01h\x8c\x01p\x86"
                "as" +
                KeyOpcode() + "\x86."));  // port "p"
  CHECK(
      IsRefused("\x80\x04}\x8c\x02lo]\x8c\x01hJ\x01\x02\x03\x04\x86"
                "as" +
                KeyOpcode() + "\x86."));  // large port
  CHECK(
      IsRefused("\x80\x04}\x8c\x02lo]](\x86"
                "as" +
                KeyOpcode() + "\x86."));
  CHECK(IsRefused("a."));
  CHECK(IsRefused("\x80\x04}(\x8c\x02lou" + KeyOpcode() + "\x86."));
  CHECK_FALSE(ParseWorkerAddresses(std::string(kMaxWorkerAddresses + 4, 'A')));
}

TEST_CASE("what a pickle recalls cannot grow beyond what was sent",
          "[rendezvous][unit]") {
  using namespace std::string_literals;
  // [] memoised, then appended to itself again and again.
  CHECK(IsRefused("]\x94h\x00"s + "a."));
  // A long text, recalled many times.
  CHECK(IsRefused("X\x00\x01\x00\x00"s + std::string(256, 'x') + "\x94."));
}

TEST_CASE("a notification is the frame that a worker accepts",
          "[rendezvous][unit]") {
  const std::string frame = HostsUpdatedFrame(Key(), 1700000000);
  const std::string body = frame.substr(36);
  CHECK(ToHex(body) ==
        "80048c1d686f726f766f642e72756e6e65722e656c61737469632e776f726b6572"
        "8c13486f7374735570646174656452657175657374"
        "932981"
        "7d288c0974696d657374616d704a00f15365"
        "8c037265734b03"
        "75622e");
  CHECK(frame.substr(0, 32) == HmacSha256(Key(), body));
  CHECK(static_cast<std::size_t>(frame[32]) == body.size());
  CHECK(frame.substr(33, 3) == std::string(3, '\0'));
}

TEST_CASE("a worker's acknowledgement is believed when it is signed",
          "[rendezvous][unit]") {
  // As a worker with this key sent it.
  const std::string answer =
      FromHex(
          "c41edba9650bd7f1bc648117db6dcbd46d4aaf63984f071b554bf122cb3a3418"
          "44000000"
          "80059539000000000000008c22686f726f766f642e72756e6e65722e636f6d6d6f6e"
          "2e7574696c2e6e6574776f726b948c0b41636b526573706f6e736594939429"
          "81942e")
          .value();
  CHECK(JudgeAnswer(Key(), answer) == AnswerState::kAcknowledged);
  for (std::size_t length = 0; length < answer.size(); ++length) {
    CHECK(JudgeAnswer(Key(), answer.substr(0, length)) ==
          AnswerState::kIncomplete);
  }
  CHECK(JudgeAnswer(std::string(32, 'x'), answer) == AnswerState::kWrong);
  CHECK(JudgeAnswer(Key(), answer + "x") == AnswerState::kWrong);
  std::string changed = answer;
  changed[50] ^= 1;
  CHECK(JudgeAnswer(Key(), changed) == AnswerState::kWrong);
  CHECK(JudgeAnswer(Key(), std::string(32, 'd') + "\xff\xff\xff\x7f") ==
        AnswerState::kWrong);
}

}  // namespace hvd
