// Shows the input to all that reads what a peer sends to the rendezvous server:
// the parsers alone, then a connection over which it arrives in two pieces.

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/event_loop.h"
#include "fuzz_target.h"
#include "rendezvous/http_connection.h"
#include "rendezvous/http_head.h"
#include "rendezvous/store_door.h"
#include "rendezvous/v1_message.h"

namespace {

constexpr std::uint64_t kMaxBody = 65536;

bool Inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() &&
          part.data() + part.size() <= whole.data() + whole.size());
}

void ParseAlone(std::string_view bytes) {
  if (const auto size = hvd::HeadSize(bytes, 0)) {
    HVD_CHECK(*size <= bytes.size());
    const auto parsed = hvd::ParseRequestHead(bytes.substr(0, *size));
    if (const auto* head = std::get_if<hvd::RequestHead>(&parsed)) {
      HVD_CHECK(Inside(head->target, bytes) && Inside(head->worker, bytes) &&
                Inside(head->signature, bytes) && Inside(head->nonce, bytes) &&
                Inside(head->authorization, bytes));
      if (const auto path = hvd::ParseStorePath(head->target)) {
        HVD_CHECK(!path->scope.empty() && !path->key.empty());
      }
      (void)hvd::ParseNoticeTarget(head->target);
    }
    (void)hvd::ParseAnswerHead(bytes.substr(0, *size));
  }
  if (const auto worker = hvd::ParseWorkerId(bytes)) {
    HVD_CHECK(!worker->host.empty() && worker->slot >= 0);
  }
  (void)hvd::ParseNotice(bytes);
  (void)hvd::ParseWorldAnswer(bytes);
  if (const auto request = hvd::ParseWorldRequest(bytes)) {
    HVD_CHECK(hvd::ParseWorldRequest(hvd::FormatWorldRequest(*request)));
  }
}

// Answers every request with its own body.
class Echo : public hvd::HttpConversation {
 public:
  explicit Echo(hvd::HttpConnection& connection) : connection_(connection) {}
  std::optional<hvd::HttpRefusal> OnHead(
      const hvd::RequestHead& head) override {
    if (head.chunked || head.content_length.value_or(0) > kMaxBody) {
      return hvd::HttpRefusal{413, "large", "large"};
    }
    return std::nullopt;
  }
  void OnRequest(const hvd::RequestHead& head, std::string_view body) override {
    HVD_CHECK(body.size() == head.content_length.value_or(0));
    connection_.Answer({.body = body});
  }

 private:
  hvd::HttpConnection& connection_;
};

void ParseFromSocket(std::string_view bytes) {
  hvd::EventLoop loop;
  std::array<int, 2> ends{};
  HVD_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                         ends.data()) == 0);
  hvd::UniqueFd peer(ends[0]);
  bool closed = false;
  hvd::HttpConnection::Events events{
      .on_refused = [](const auto&, const auto&) {},
      .on_closed = [&](std::uint64_t) { closed = true; }};
  const hvd::HttpLimits limits;
  const auto connection = std::make_shared<hvd::HttpConnection>(
      loop.context(), hvd::UniqueFd(ends[1]), sockaddr_storage{}, 1, limits,
      events);
  connection->Start(std::make_unique<Echo>(*connection), loop.Now());

  std::array<char, 65536> answer{};
  const std::size_t cut = bytes.size() / 2;
  for (std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    while (!piece.empty() && !closed) {
      const ssize_t n =
          ::send(peer.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      piece.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      loop.RunUntil([] { return false; }, hvd::Duration(0));
      while (::recv(peer.get(), answer.data(), answer.size(), 0) > 0) continue;
      if (n <= 0) break;
    }
  }
  peer.Reset();
  // It notices that its peer has gone, whatever state the input left it in.
  HVD_CHECK(loop.RunUntil([&] { return closed; }, hvd::Duration(5'000)));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ParseAlone(bytes);
  ParseFromSocket(bytes);
  return 0;
}
