#include "rendezvous/signature.h"

#include <initializer_list>

#include "base/hex.h"
#include "base/hmac_sha256.h"

namespace hvd {
namespace {

// Each part as a netstring, "<length>:<bytes>,": no two lists of parts give the
// same text.
std::string Delimited(std::initializer_list<std::string_view> parts) {
  std::string text;
  text.reserve(512);
  for (const std::string_view part : parts) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
    text += ',';
  }
  return text;
}

}  // namespace

std::string BodyDigest(std::string_view body) {
  Sha256 hash;
  hash.Update(body);
  const auto digest = hash.Finish();
  return ToHex(std::string(digest.begin(), digest.end()));
}

std::string SignRequest(std::string_view key, const SessionNonces& session,
                        const RequestToSign& request) {
  return ToHex(HmacSha256(
      key, Delimited({"hvd-request-1", session.client, session.server,
                      std::to_string(request.sequence), request.method,
                      request.target, request.worker, request.body_digest})));
}

std::string SignAnswer(std::string_view key, std::string_view request_signature,
                       int status, std::string_view body_digest) {
  return ToHex(
      HmacSha256(key, Delimited({"hvd-answer-1", request_signature,
                                 std::to_string(status), body_digest})));
}

std::optional<std::string_view> Session::Refuse(std::string_view key,
                                                const RequestToSign& request,
                                                std::string_view signature) {
  if (!EqualInConstantTime(SignRequest(key, nonces_, request), signature)) {
    return "the signature is not made with this job's key";
  }
  if (request.sequence <= last_sequence_) {
    return "the sequence number was used before";
  }
  last_sequence_ = request.sequence;
  return std::nullopt;
}

}  // namespace hvd
