// Result<T>: a value, or the Error that explains why there is none.
//
// Every function that can fail for a reason the program did not cause returns
// one. GCC 12 has no std::expected in C++20 mode; this is the part we need.
#pragma once

#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "base/check.h"

namespace hvd {

// What the caller should do about it.
enum class ErrorCode {
  kInvalidArgument,  // tell the user: flag, file, environment, wrong call
  kNotFound,
  kUnavailable,  // may work if tried again
  kTimeout,
  kCancelled,
  kInternal,  // a bug, ours
};

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  // "<what>: <strerror(err)>", e.g. "open /etc/hosts: Permission denied".
  static Error FromErrno(std::string what, int err) {
    return {ErrorCode::kUnavailable,
            std::move(what) + ": " + std::generic_category().message(err)};
  }

  ErrorCode code() const { return code_; }
  // Lower case, object first, no full stop: "hosts.txt:3: slots must be ...".
  const std::string& message() const { return message_; }
  // What to do about it, for the line below the error; often empty.
  const std::string& hint() const { return hint_; }

  // Prefixes what the caller was doing; outermost first.
  Error Wrap(const std::string& doing) && {
    message_ = doing + ": " + message_;
    return std::move(*this);
  }
  Error WithHint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
  std::string hint_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    HVD_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    HVD_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    HVD_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  const Error& error() const& {
    HVD_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    HVD_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace hvd
