#include "base/hmac_sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "base/hex.h"

namespace hvd {
namespace {

std::string OpenSslHmac(const std::string& key, const std::string& message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(),
       digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

std::string RandomText(std::mt19937& engine, std::size_t size) {
  std::uniform_int_distribution<int> byte(0, 255);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(byte(engine));
  return text;
}

}  // namespace

TEST_CASE("HmacSha256 gives the digests of RFC 4231", "[base]") {
  struct Vector {
    std::string key;
    std::string message;
    std::string digest;
  };
  const std::array<Vector, 6> vectors = {{
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {FromHex("0102030405060708090a0b0c0d0e0f10111213141516171819").value(),
       std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(131, '\xaa'),
       "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than "
       "block-size data. The key needs to be hashed before being used by the "
       "HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  }};
  for (const Vector& v : vectors) {
    CHECK(ToHex(HmacSha256(v.key, v.message)) == v.digest);
  }
}

TEST_CASE("HmacSha256 agrees with OpenSSL on keys and messages of any length",
          "[base]") {
  std::mt19937 engine(20260101);
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string key = RandomText(engine, size * 7 % 150);
    const std::string message = RandomText(engine, size);
    REQUIRE(HmacSha256(key, message) == OpenSslHmac(key, message));
  }
}

TEST_CASE("HmacSha256 signs parts as one message", "[base]") {
  const std::array<std::string_view, 3> parts = {"GET", "", " /v1/world"};
  CHECK(HmacSha256("k", parts) == HmacSha256("k", "GET /v1/world"));
}

TEST_CASE("EqualInConstantTime compares content and length", "[base]") {
  CHECK(EqualInConstantTime("abc", "abc"));
  CHECK(EqualInConstantTime("", ""));
  CHECK_FALSE(EqualInConstantTime("abc", "abd"));
  CHECK_FALSE(EqualInConstantTime("abc", "ab"));
}

}  // namespace hvd
