// Signature: proof that both ends of a /v1 exchange hold the job's key.
//
// A session is one connection: each end contributes a random nonce, and every
// request in it carries a sequence number that only grows. A captured request
// is worth nothing on another connection (other nonces) nor on its own (used
// number), so nothing need be remembered beyond a connection's life, and no
// clock is read. An answer is bound to the signature of its request.
//
// A request names the digest of its body, so that it can be judged before any
// of the body is read.
//
// Pure. The format is in docs/design/rendezvous_protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hvd {

inline constexpr std::size_t kNonceBytes = 16;

struct SessionNonces {
  std::string client;  // raw bytes
  std::string server;
};

struct RequestToSign {
  std::string_view method;  // "GET"
  std::string_view target;  // as on the request line
  std::string_view worker;  // "a/0"
  std::uint64_t sequence = 0;
  std::string_view body_digest;  // BodyDigest() of the body
};

// SHA-256 in lower-case hexadecimal.
std::string BodyDigest(std::string_view body);

// 64 lower-case hexadecimal digits.
std::string SignRequest(std::string_view key, const SessionNonces& session,
                        const RequestToSign& request);
std::string SignAnswer(std::string_view key, std::string_view request_signature,
                       int status, std::string_view body_digest);

// The server's memory of one session.
class Session {
 public:
  explicit Session(SessionNonces nonces) : nonces_(std::move(nonces)) {}

  // nullopt: genuine, and its sequence number is used up. Otherwise why not.
  std::optional<std::string_view> Refuse(std::string_view key,
                                         const RequestToSign& request,
                                         std::string_view signature);

 private:
  SessionNonces nonces_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace hvd
