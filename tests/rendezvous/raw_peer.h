// RawPeer: a socket that says to a ServedJob's server whatever a test wants,
// pumping the server's loop whenever it has to wait.
#pragma once

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/hex.h"
#include "base/random_bytes.h"
#include "base/socket_address.h"
#include "base/unique_fd.h"
#include "rendezvous/http_head.h"
#include "rendezvous/signature.h"
#include "served_job.h"

namespace hvd::testing {

inline UniqueFd ConnectTo(std::uint16_t port,
                          const std::string& address = "127.0.0.1") {
  const auto to = ParseSocketAddress(address, port);
  REQUIRE(to);
  UniqueFd fd(::socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Completed by the kernel, whether or not the server has accepted.
  REQUIRE(::connect(fd.get(), to->get(), to->size) == 0);
  return fd;
}

struct RawAnswer {
  int status = 0;
  std::string body;
  std::string nonce;
  std::string signature;
  bool keep_alive = false;
};

class RawPeer {
 public:
  explicit RawPeer(ServedJob& job)
      : job_(job), socket_(ConnectTo(job.server->port())) {}

  // False: the server does not want it any more.
  bool Send(std::string_view bytes) {
    const Instant end = In(kPatience);
    while (!bytes.empty() && job_.loop.Now() < end) {
      const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      if (n < 0 && errno != EAGAIN) return false;
      if (n < 0) Pump(Duration(1));
    }
    return bytes.empty();
  }

  // Everything up to the end of the connection.
  std::string ReadToEnd() {
    CHECK(job_.Until([&] { return !Receive(); }));
    return std::exchange(in_, {});
  }

  // nullopt: the connection ended first.
  std::optional<RawAnswer> Read() {
    std::optional<RawAnswer> answer;
    bool open = true;
    CHECK(job_.Until([&] {
      // Asked once more after it has held.
      if (!answer) {
        open = Receive();
        answer = TakeAnswer();
      }
      return answer.has_value() || !open;
    }));
    return answer;
  }

  std::optional<RawAnswer> Ask(std::string_view bytes) {
    Send(bytes);
    return Read();
  }

  // True once the server has closed the connection.
  bool WaitClosed(Duration patience = kPatience) {
    return job_.loop.RunUntil([&] { return !Receive(); }, patience);
  }

  void Pump(Duration time) {
    job_.loop.RunUntil([] { return false; }, time);
  }

  // Opens a session; Signed() belongs to it from then on.
  void OpenSession() {
    nonces_.client = RandomBytes(kNonceBytes);
    const auto answer =
        Ask("GET /v1/session HTTP/1.1\r\nHVD-Nonce: " + ToHex(nonces_.client) +
            "\r\n\r\n");
    REQUIRE(answer);
    REQUIRE(answer->status == 200);
    nonces_.server = FromHex(answer->nonce).value_or("");
  }

  std::string Signed(const std::string& method, const std::string& target,
                     std::uint64_t sequence, const std::string& body = "",
                     const std::string& key = ServedJob::kKey) const {
    const std::string digest = BodyDigest(body);
    const std::string signature =
        SignRequest(key, nonces_, {method, target, "a/0", sequence, digest});
    return method + " " + target +
           " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nHVD-Worker: a/0\r\nHVD-Sequence: " + std::to_string(sequence) +
           "\r\nHVD-Body: " + digest + "\r\nHVD-Signature: " + signature +
           "\r\n\r\n" + body;
  }

  int fd() const { return socket_.get(); }

 private:
  // False at the end of the connection.
  bool Receive() {
    for (;;) {
      std::array<char, 65536> chunk{};
      const ssize_t n =
          ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
      if (n == 0) return false;
      if (n < 0) return errno == EAGAIN;
      in_.append(chunk.data(), static_cast<std::size_t>(n));
    }
  }

  std::optional<RawAnswer> TakeAnswer() {
    const auto size = HeadSize(in_, 0);
    if (!size) return std::nullopt;
    const std::string head_bytes = in_.substr(0, *size);
    const auto parsed = ParseAnswerHead(head_bytes);
    REQUIRE(std::holds_alternative<AnswerHead>(parsed));
    const auto& head = std::get<AnswerHead>(parsed);
    const auto length =
        static_cast<std::size_t>(head.content_length.value_or(0));
    if (in_.size() < *size + length) return std::nullopt;
    RawAnswer answer{head.status, in_.substr(*size, length),
                     std::string(head.nonce), std::string(head.signature),
                     head.keep_alive};
    in_.erase(0, *size + length);
    return answer;
  }

  ServedJob& job_;
  UniqueFd socket_;
  std::string in_;
  SessionNonces nonces_;
};

}  // namespace hvd::testing
