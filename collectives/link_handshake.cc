#include "collectives/link_handshake.h"

#include <algorithm>

#include "base/hmac_sha256.h"
#include "base/random_bytes.h"

namespace hvd {
namespace {

constexpr std::array<char, 8> kMagic{'H', 'V', 'D', 'L', 'I', 'N', 'K', '2'};

template <class T>
std::string_view BytesOf(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

template <std::size_t N>
void Fill(std::array<char, N>& out, const std::string& bytes) {
  std::copy_n(bytes.begin(), N, out.begin());
}

std::string Sign(std::string_view key, std::string_view role,
                 const Hello& hello, const Challenge& challenge) {
  const std::array<std::string_view, 3> parts{
      role, BytesOf(hello),
      std::string_view(challenge.nonce.data(), challenge.nonce.size())};
  return HmacSha256(key, parts);
}

constexpr std::string_view kListener = "hvd link listener";
constexpr std::string_view kDialler = "hvd link dialler";

}  // namespace

Hello MakeHello(const LinkIdentity& identity, LinkPurpose purpose) {
  Hello hello{
      kMagic,      purpose, identity.size, identity.epoch, identity.from,
      identity.to, {}};
  Fill(hello.nonce, RandomBytes(kNonceBytes));
  return hello;
}

bool Matches(const Hello& hello, const LinkIdentity& identity,
             LinkPurpose purpose) {
  return hello.magic == kMagic && hello.size == identity.size &&
         hello.epoch == identity.epoch && hello.from == identity.from &&
         hello.to == identity.to && hello.purpose == purpose;
}

Challenge MakeChallenge(std::string_view key, const Hello& hello) {
  Challenge challenge{Answer::kOk, 0, {}, {}};
  Fill(challenge.nonce, RandomBytes(kNonceBytes));
  Fill(challenge.proof, Sign(key, kListener, hello, challenge));
  return challenge;
}

Challenge MakeRefusal(Answer why) { return {why, 0, {}, {}}; }

bool IsProven(std::string_view key, const Hello& hello,
              const Challenge& challenge) {
  return EqualInConstantTime(Sign(key, kListener, hello, challenge),
                             {challenge.proof.data(), kProofBytes});
}

Proof MakeProof(std::string_view key, const Hello& hello,
                const Challenge& challenge) {
  Proof proof{};
  Fill(proof.proof, Sign(key, kDialler, hello, challenge));
  return proof;
}

bool IsProven(std::string_view key, const Hello& hello,
              const Challenge& challenge, const Proof& proof) {
  return EqualInConstantTime(Sign(key, kDialler, hello, challenge),
                             {proof.proof.data(), kProofBytes});
}

}  // namespace hvd
