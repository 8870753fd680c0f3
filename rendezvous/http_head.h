// HTTP heads: the request line or status line and the few header fields that
// the rendezvous protocol reads. Bodies are the caller's business.
//
// Pure: bytes in, views into those bytes out; no allocation for a good head.
// Boost.Beast does the parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace hvd {

inline constexpr std::size_t kMaxHeadBytes = 8192;

enum class HttpMethod { kGet, kPut, kPost, kDelete, kOther };

// Views live as long as the bytes they were parsed from.
struct RequestHead {
  HttpMethod method = HttpMethod::kOther;
  std::string_view method_name;
  std::string_view target;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;
  std::string_view authorization;
  std::string_view nonce;        // HVD-Nonce
  std::string_view worker;       // HVD-Worker
  std::string_view sequence;     // HVD-Sequence
  std::string_view body_digest;  // HVD-Body
  std::string_view signature;    // HVD-Signature
};

struct AnswerHead {
  int status = 0;
  std::optional<std::uint64_t> content_length;
  bool keep_alive = false;
  std::string_view nonce;
  std::string_view signature;
};

struct BadHead {
  std::string_view why;
};

// How many bytes the head at the front of `bytes` has, its blank line included.
// nullopt: it is not all there. The first `seen` bytes were looked at before.
std::optional<std::size_t> HeadSize(std::string_view bytes, std::size_t seen);

// `head` is one whole head, as HeadSize() cuts it.
std::variant<RequestHead, BadHead> ParseRequestHead(std::string_view head);
std::variant<AnswerHead, BadHead> ParseAnswerHead(std::string_view head);

}  // namespace hvd
