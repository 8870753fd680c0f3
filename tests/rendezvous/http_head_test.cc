#include "rendezvous/http_head.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "rendezvous/http_answer.h"

namespace hvd {
namespace {

RequestHead Good(std::string_view bytes) {
  const auto parsed = ParseRequestHead(bytes);
  REQUIRE(std::holds_alternative<RequestHead>(parsed));
  return std::get<RequestHead>(parsed);
}

bool IsBad(std::string_view bytes) {
  return std::holds_alternative<BadHead>(ParseRequestHead(bytes));
}

}  // namespace

TEST_CASE("a head ends with its blank line", "[rendezvous]") {
  const std::string head = "GET /a/b HTTP/1.1\r\nHost: x\r\n\r\n";
  CHECK(HeadSize(head + "body", 0) == head.size());
  for (std::size_t cut = 0; cut < head.size(); ++cut) {
    CHECK_FALSE(HeadSize(std::string_view(head).substr(0, cut), 0));
    // Whatever was looked at before, the end is found.
    CHECK(HeadSize(head, cut) == head.size());
  }
}

TEST_CASE("the head that Horovod's client sends is understood",
          "[rendezvous]") {
  const RequestHead head = Good(
      "PUT /global/rank_0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
      "Content-Length: 2\r\n\r\n");
  CHECK(head.method == HttpMethod::kPut);
  CHECK(head.method_name == "PUT");
  CHECK(head.target == "/global/rank_0");
  CHECK(head.content_length == 2);
  CHECK(head.keep_alive);
  CHECK_FALSE(head.chunked);
  CHECK_FALSE(head.expects_continue);
}

TEST_CASE("our fields are found whatever their case", "[rendezvous]") {
  const RequestHead head = Good(
      "POST /v1/world HTTP/1.1\r\nhvd-worker: a/0\r\nHVD-SEQUENCE: 7\r\n"
      "Hvd-Body: 00\r\nHVD-Signature:  ff \r\nHVD-Nonce: 11\r\n"
      "HVD-Other: x\r\n\r\n");
  CHECK(head.worker == "a/0");
  CHECK(head.sequence == "7");
  CHECK(head.body_digest == "00");
  CHECK(head.signature == "ff");
  CHECK(head.nonce == "11");
  CHECK_FALSE(head.content_length);
}

TEST_CASE("the credentials of a request are taken as they are",
          "[rendezvous]") {
  CHECK(Good("PUT /v1/hosts HTTP/1.1\r\nauthorization:  Bearer a b \r\n\r\n")
            .authorization == "Bearer a b");
  CHECK(Good("PUT /v1/hosts HTTP/1.1\r\n\r\n").authorization.empty());
  CHECK(
      IsBad("PUT /v1/hosts HTTP/1.1\r\nAuthorization: Bearer\r\n abc\r\n\r\n"));
}

TEST_CASE("HTTP/1.0 and Connection: close end the connection", "[rendezvous]") {
  CHECK_FALSE(Good("GET /a/b HTTP/1.0\r\n\r\n").keep_alive);
  CHECK_FALSE(
      Good("GET /a/b HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
}

TEST_CASE("what is no HTTP/1 head is refused", "[rendezvous]") {
  for (const std::string& bytes : std::vector<std::string>{
           "\r\n\r\n", "\x80\x02}q\x00.\r\n\r\n", "GET /\r\n\r\n",
           "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
           "GET / HTTP/1.1\nHost: x\r\n\r\n",
           "PUT /a/b HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           "PUT /a/b HTTP/1.1\r\nContent-Length: 1 2\r\n\r\n",
           "PUT /a/b HTTP/1.1\r\nContent-Length: 18446744073709551616"
           "\r\n\r\n",
           "PUT /a/b HTTP/1.1\r\nContent-Length: 1\r\n"
           "Content-Length: 2\r\n\r\n",
           "PUT /a/b HTTP/1.1\r\nContent-Length: 1\r\n"
           "Transfer-Encoding: chunked\r\n\r\n"}) {
    INFO(bytes);
    CHECK(IsBad(bytes));
  }
}

TEST_CASE("a field folded over two lines is refused", "[rendezvous]") {
  CHECK(IsBad("GET /a/b HTTP/1.1\r\nHVD-Worker: a\r\n /0\r\n\r\n"));
}

TEST_CASE("a length beyond all bounds is read, not judged, here",
          "[rendezvous]") {
  CHECK(Good("PUT /a/b HTTP/1.1\r\nContent-Length: 18446744073709551615"
             "\r\n\r\n")
            .content_length == 18446744073709551615ULL);
}

TEST_CASE("an answer is read back as it was written", "[rendezvous]") {
  std::string bytes;
  AppendAnswer(bytes, {.status = 404,
                       .body = "gone",
                       .fields = "HVD-Signature: ab\r\n",
                       .then = AfterAnswer::kClose});
  const auto size = HeadSize(bytes, 0);
  REQUIRE(size);
  CHECK(bytes.substr(*size) == "gone");
  const auto parsed = ParseAnswerHead(std::string_view(bytes).substr(0, *size));
  REQUIRE(std::holds_alternative<AnswerHead>(parsed));
  const auto& head = std::get<AnswerHead>(parsed);
  CHECK(head.status == 404);
  CHECK(head.content_length == 4);
  CHECK(head.signature == "ab");
  CHECK_FALSE(head.keep_alive);
}

TEST_CASE("an answer is the bytes that Horovod's client can read",
          "[rendezvous]") {
  std::string bytes;
  AppendAnswer(bytes, {.body = "vm"});
  AppendAnswer(bytes, {.status = 404});
  CHECK(bytes ==
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nvm"
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace hvd
