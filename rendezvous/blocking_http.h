// BlockingHttp: one HTTP/1.1 connection, used by a thread that may wait.
//
// Every wait ends at a deadline or when the cancel descriptor becomes readable.
// After any error the connection is closed. No thread of its own, no signals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hvd {

class BlockingHttp {
 public:
  struct Answer {
    int status = 0;
    std::string body;
    std::string nonce;      // HVD-Nonce
    std::string signature;  // HVD-Signature
  };

  // `cancel_fd` stays the caller's.
  explicit BlockingHttp(int cancel_fd) : cancel_fd_(cancel_fd) {}

  // `address` is an IPv4 or IPv6 literal: kInvalidArgument otherwise.
  // kUnavailable: nobody answers there. kTimeout, kCancelled.
  Status Connect(const std::string& address, std::uint16_t port,
                 Instant deadline);
  // Sends head and body, and waits for the answer. kUnavailable: the
  // connection broke, or what came is not HTTP.
  Result<Answer> Ask(std::string_view head, std::string_view body,
                     Instant deadline);
  // False too when the server has closed it meanwhile.
  bool IsOpen();
  void Close();

 private:
  enum class Direction { kRead, kWrite };

  Status WaitFor(Direction direction, Instant deadline);
  Status Send(std::string_view bytes, Instant deadline);
  Status Receive(Instant deadline);  // at least one byte more in in_
  Result<Answer> ReadAnswer(Instant deadline);

  int cancel_fd_;
  UniqueFd socket_;
  std::string in_;
};

}  // namespace hvd
