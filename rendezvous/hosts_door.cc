#include "rendezvous/hosts_door.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hmac_sha256.h"
#include "base/socket_address.h"

namespace hvd {
namespace {

constexpr std::string_view kBearer = "Bearer ";

}  // namespace

class HostsDoor::Conversation : public HttpConversation {
 public:
  Conversation(const HostsDoor& door, HttpConnection& connection)
      : door_(door), connection_(connection) {}

  std::optional<HttpRefusal> OnHead(const RequestHead& head) override {
    if (auto refusal = RefuseStranger(head)) return refusal;
    if (head.method != HttpMethod::kPut) {
      return HttpRefusal{405, "method", "hosts are pushed with PUT"};
    }
    if (head.chunked || !head.content_length) {
      return HttpRefusal{
          411, "no length",
          "a list of hosts needs a Content-Length; curl sends "
          "one for a file, and with --data-binary @- for a pipe"};
    }
    if (*head.content_length > door_.max_body_) {
      return HttpRefusal{413, "large body",
                         "a list of hosts may have " +
                             std::to_string(door_.max_body_) + " bytes"};
    }
    return std::nullopt;
  }

  void OnRequest(const RequestHead& /*head*/, std::string_view body) override {
    const Status pushed = door_.on_push_(std::string(body));
    if (pushed.ok()) return connection_.Answer({});
    const bool bad = pushed.error().code() == ErrorCode::kInvalidArgument;
    connection_.Refuse(
        {bad ? 400 : 503, "list of hosts", pushed.error().message()});
  }

 private:
  std::optional<HttpRefusal> RefuseStranger(const RequestHead& head) const {
    if (!IsLoopback(connection_.peer())) {
      return HttpRefusal{403, "push from another host",
                         "authentication: hosts are pushed from this host "
                         "only"};
    }
    const std::string_view shown = head.authorization;
    if (!shown.starts_with(kBearer)) {
      return HttpRefusal{401, "authentication",
                         "authentication failed: no token, which is in the "
                         "file of --control-file"};
    }
    if (!EqualInConstantTime(shown.substr(kBearer.size()), door_.token_)) {
      return HttpRefusal{401, "authentication",
                         "authentication failed: the token is not this job's"};
    }
    return std::nullopt;
  }

  const HostsDoor& door_;
  HttpConnection& connection_;
};

HostsDoor::HostsDoor(std::string token, std::size_t max_body,
                     PushHandler on_push)
    : token_(std::move(token)),
      max_body_(max_body),
      on_push_(std::move(on_push)) {
  HVD_CHECK(!token_.empty() && on_push_);
}

std::unique_ptr<HttpConversation> HostsDoor::Open(HttpConnection& connection) {
  return std::make_unique<Conversation>(*this, connection);
}

}  // namespace hvd
