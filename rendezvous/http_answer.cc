#include "rendezvous/http_answer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hvd {
namespace {

struct StatusLine {
  int status;
  std::string_view line;
};

constexpr std::array<StatusLine, 17> kStatusLines = {{
    {200, "HTTP/1.1 200 OK\r\nContent-Length: "},
    {204, "HTTP/1.1 204 No Content\r\nContent-Length: "},
    {400, "HTTP/1.1 400 Bad Request\r\nContent-Length: "},
    {401, "HTTP/1.1 401 Unauthorized\r\nContent-Length: "},
    {403, "HTTP/1.1 403 Forbidden\r\nContent-Length: "},
    {404, "HTTP/1.1 404 Not Found\r\nContent-Length: "},
    {405, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: "},
    {408, "HTTP/1.1 408 Request Timeout\r\nContent-Length: "},
    {409, "HTTP/1.1 409 Conflict\r\nContent-Length: "},
    {410, "HTTP/1.1 410 Gone\r\nContent-Length: "},
    {411, "HTTP/1.1 411 Length Required\r\nContent-Length: "},
    {413, "HTTP/1.1 413 Payload Too Large\r\nContent-Length: "},
    {421, "HTTP/1.1 421 Misdirected Request\r\nContent-Length: "},
    {431, "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: "},
    {503, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: "},
    {507, "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: "},
    {500, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: "},
}};

}  // namespace

void AppendAnswer(std::string& out, const HttpAnswer& answer) {
  const auto* line = std::find_if(
      kStatusLines.begin(), kStatusLines.end() - 1,
      [&](const StatusLine& l) { return l.status == answer.status; });
  std::array<char, 20> length{};
  const char* end = std::to_chars(length.data(), length.data() + length.size(),
                                  answer.body.size())
                        .ptr;
  out += line->line;
  out.append(length.data(), static_cast<std::size_t>(end - length.data()));
  out += "\r\n";
  out += answer.fields;
  if (answer.then == AfterAnswer::kClose) out += "Connection: close\r\n";
  out += "\r\n";
  out += answer.body;
}

}  // namespace hvd
