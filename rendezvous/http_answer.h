// HTTP answers as bytes. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hvd {

enum class AfterAnswer { kKeepOpen, kClose };

struct HttpAnswer {
  int status = 200;
  std::string_view body = {};
  std::string_view fields = {};  // whole lines: "Name: value\r\n..."
  AfterAnswer then = AfterAnswer::kKeepOpen;
};

// Appends head and body. `Content-Length` is always there and spelled so:
// Horovod's C++ client knows no other spelling and no other way to find the
// end.
void AppendAnswer(std::string& out, const HttpAnswer& answer);

}  // namespace hvd
