// Link handshake: how two ranks prove to each other that they belong
// to one job and one world before a byte of an array moves.
//
// Pure: the messages and the proofs. The one who dials sends a Hello, the
// listener answers with its proof (a Challenge), the dialler sends its own (a
// Proof), the listener says that it has taken the connection (an Accept). Each
// proof is an HMAC with the job's key over the Hello and both nonces, so
// neither can be replayed, and neither side's can be used for the other's.
// Both ends are of one build and byte order, which the magic stands for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hvd {

enum class LinkPurpose : std::uint32_t {
  kControl = 1,  // of ring neighbours: failures and goodbyes
  kData = 2,     // of ring neighbours: arrays
  kGroup = 3,    // of a host's first rank and another: the shared memory
  kPartner = 4,  // of hosts' first ranks: recursive doubling
  kRail = 5,     // of ranks with the same place on their hosts: their ring
};

inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kProofBytes = 32;

struct Hello {
  std::array<char, 8> magic;
  LinkPurpose purpose;
  std::int32_t size;
  std::uint64_t epoch;
  std::int32_t from;
  std::int32_t to;
  std::array<char, kNonceBytes> nonce;
};
static_assert(sizeof(Hello) == 48);

enum class Answer : std::uint32_t { kOk = 1, kOtherWorld = 2, kWrongProof = 3 };

struct Challenge {
  Answer answer;
  std::uint32_t unused;
  std::array<char, kNonceBytes> nonce;
  std::array<char, kProofBytes> proof;
};
static_assert(sizeof(Challenge) == 56);

struct Proof {
  std::array<char, kProofBytes> proof;
};

struct Accept {
  Answer answer;
  std::uint32_t unused;
};

// Who meets whom, in which world.
struct LinkIdentity {
  std::uint64_t epoch = 0;
  int size = 0;
  int from = 0;  // the one who dials
  int to = 0;
};

Hello MakeHello(const LinkIdentity& identity, LinkPurpose purpose);
// False: of another build, world or pair of ranks, or for something else.
bool Matches(const Hello& hello, const LinkIdentity& identity,
             LinkPurpose purpose);

Challenge MakeChallenge(std::string_view key, const Hello& hello);
Challenge MakeRefusal(Answer why);
bool IsProven(std::string_view key, const Hello& hello,
              const Challenge& challenge);

Proof MakeProof(std::string_view key, const Hello& hello,
                const Challenge& challenge);
bool IsProven(std::string_view key, const Hello& hello,
              const Challenge& challenge, const Proof& proof);

}  // namespace hvd
