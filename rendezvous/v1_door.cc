#include "rendezvous/v1_door.h"

#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hex.h"
#include "base/hmac_sha256.h"
#include "base/random_bytes.h"
#include "rendezvous/rendezvous_client.h"
#include "rendezvous/signature.h"
#include "rendezvous/v1_message.h"

namespace hvd {
namespace {

enum class Route { kSession, kWorld, kNotice, kBlame, kLog, kResult };

struct RouteRule {
  Route route;
  HttpMethod method;
  std::string_view path;
  std::size_t max_body;
};

// Room for the longest names; a world request has about 200 bytes.
constexpr std::size_t kMaxWorldRequest = 16384;
constexpr std::size_t kMaxBlame = 256;
// The client's mark of a cut line stands behind kMaxLogBytes.
constexpr std::size_t kMaxLogBody = RendezvousClient::kMaxLogBytes + 64;

constexpr std::array<RouteRule, 6> kRoutes = {{
    {Route::kSession, HttpMethod::kGet, kSessionTarget, 0},
    {Route::kWorld, HttpMethod::kPost, kWorldTarget, kMaxWorldRequest},
    {Route::kNotice, HttpMethod::kGet, kNoticeTarget, 0},
    {Route::kBlame, HttpMethod::kPost, kBlameTarget, kMaxBlame},
    {Route::kLog, HttpMethod::kPost, kLogTarget, kMaxLogBody},
    {Route::kResult, HttpMethod::kPut, kResultTarget,
     RendezvousClient::kMaxResultBytes},
}};

const RouteRule* FindRoute(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  for (const RouteRule& rule : kRoutes) {
    if (rule.path == path) return &rule;
  }
  return nullptr;
}

HttpRefusal NotAuthentic(std::string_view why) {
  return {401, "authentication", "authentication failed: " + std::string(why)};
}

}  // namespace

class V1Door::Conversation : public HttpConversation {
 public:
  Conversation(V1Door& door, HttpConnection& connection)
      : door_(door), connection_(connection) {}
  ~Conversation() override {
    door_.parked_.erase(waiter());
    door_.worlds_.Leave(waiter());
    door_.notices_.Leave(waiter());
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  std::optional<HttpRefusal> OnHead(const RequestHead& head) override;
  void OnRequest(const RequestHead& head, std::string_view body) override;

  // A signed answer to the request in progress.
  void Reply(int status, std::string_view body) {
    Reply(status, body, BodyDigest(body));
  }
  void Reply(int status, std::string_view body, std::string_view digest);
  // Who asks.
  const WorkerId& worker() const { return caller_.worker; }

 private:
  // It lived before the one that has its slot now: its host was lost.
  bool IsReplaced() const {
    const auto newest = door_.newest_.find(worker());
    return newest != door_.newest_.end() && caller_.launch < newest->second;
  }
  Waiter waiter() const { return Waiter{connection_.id()}; }

  std::optional<HttpRefusal> Authenticate(const RequestHead& head);
  void OpenSession(const RequestHead& head);
  void OnWorld(std::string_view body);
  void OnNotice(std::string_view target);
  void OnBlame(std::string_view body);

  V1Door& door_;
  HttpConnection& connection_;
  std::optional<Session> session_;
  // Of the request in progress.
  const RouteRule* rule_ = nullptr;
  Caller caller_;
  std::string signature_;
};

std::optional<HttpRefusal> V1Door::Conversation::OnHead(
    const RequestHead& head) {
  rule_ = FindRoute(head.target);
  const bool opens = rule_ != nullptr && rule_->route == Route::kSession;
  if (!opens) {
    if (auto refusal = Authenticate(head)) return refusal;
  }
  if (rule_ == nullptr) return HttpRefusal{404, "path", "no such path"};
  if (head.method != rule_->method) {
    return HttpRefusal{405, "method", "method not allowed here"};
  }
  if (head.chunked) {
    return HttpRefusal{411, "no length", "chunked bodies are not read"};
  }
  if (head.content_length.value_or(0) > rule_->max_body) {
    return HttpRefusal{
        413, "large body",
        "body is over " + std::to_string(rule_->max_body) + " bytes"};
  }
  return std::nullopt;
}

std::optional<HttpRefusal> V1Door::Conversation::Authenticate(
    const RequestHead& head) {
  if (head.signature.empty()) return NotAuthentic("the request is not signed");
  if (!session_) return NotAuthentic("no session was opened here");
  const auto sequence = ParseNumber(head.sequence);
  if (!sequence) return NotAuthentic("no sequence number");
  const RequestToSign request{.method = head.method_name,
                              .target = head.target,
                              .worker = head.worker,
                              .sequence = *sequence,
                              .body_digest = head.body_digest};
  if (const auto why =
          session_->Refuse(door_.job_key_, request, head.signature)) {
    return NotAuthentic(*why);
  }
  std::optional<Caller> caller = ParseCaller(head.worker);
  if (!caller) {
    return HttpRefusal{400, "worker", "HVD-Worker is not host/slot#launch"};
  }
  caller_ = std::move(*caller);
  signature_ = head.signature;
  return std::nullopt;
}

void V1Door::Conversation::OnRequest(const RequestHead& head,
                                     std::string_view body) {
  if (rule_->route == Route::kSession) return OpenSession(head);
  if (!EqualInConstantTime(BodyDigest(body), head.body_digest)) {
    return connection_.Refuse(NotAuthentic("the body is not the signed one"));
  }
  if (IsReplaced()) return Reply(410, "this worker is not wanted any more");
  // What is told is heard before it is answered: a worker that has the answer
  // may go on to say so, or end.
  switch (rule_->route) {
    case Route::kSession:
      return;
    case Route::kWorld:
      return OnWorld(body);
    case Route::kNotice:
      return OnNotice(head.target);
    case Route::kBlame:
      return OnBlame(body);
    case Route::kLog:
      door_.handlers_.on_log(worker(), std::string(body));
      return Reply(200, "");
    case Route::kResult:
      door_.handlers_.on_result(worker(), std::string(body));
      return Reply(200, "");
  }
}

void V1Door::Conversation::OpenSession(const RequestHead& head) {
  const std::optional<std::string> nonce = FromHex(head.nonce);
  if (!nonce || nonce->size() != kNonceBytes) {
    return connection_.Refuse(
        {400, "nonce", "HVD-Nonce is not 32 hexadecimal digits"});
  }
  const std::string mine = RandomBytes(kNonceBytes);
  session_.emplace(SessionNonces{.client = *nonce, .server = mine});
  connection_.Answer({.fields = "HVD-Nonce: " + ToHex(mine) + "\r\n"});
}

void V1Door::Conversation::OnWorld(std::string_view body) {
  const std::optional<WorldRequest> request = ParseWorldRequest(body);
  if (!request) return Reply(400, "the body is not a world request");
  door_.parked_[waiter()] = this;
  const WorldBoard::Arrival arrival =
      door_.worlds_.Ask(waiter(), {.worker = worker(),
                                   .after = request->after,
                                   .endpoint = request->endpoint,
                                   .until = SteadyClock().Now() + kLongPoll});
  door_.Release(arrival.releases);
  if (arrival.first_time) door_.handlers_.on_ready(worker(), request->after);
}

void V1Door::Conversation::OnNotice(std::string_view target) {
  const auto question = ParseNoticeTarget(target);
  if (!question) {
    return Reply(
        400,
        "the target has no ?epoch=<number>[&heard=<0 to 3>][&operations=<n>]");
  }
  if (!door_.worlds_.IsKnown(question->epoch))
    return Reply(409, "no world has this epoch yet");
  const Instant until = SteadyClock().Now() + kLongPoll;
  if (const auto notice = door_.notices_.Ask(waiter(), *question, until)) {
    Reply(200, FormatNotice(*notice));
  } else {
    door_.parked_[waiter()] = this;
  }
  door_.handlers_.on_heard(worker(), question->epoch, question->operations);
}

void V1Door::Conversation::OnBlame(std::string_view body) {
  const std::optional<Blame> blame = ParseBlame(body);
  if (!blame) return Reply(400, "the body is not {epoch, rank}");
  door_.handlers_.on_blame(worker(), blame->epoch, blame->rank);
  Reply(200, "");
}

void V1Door::Conversation::Reply(int status, std::string_view body,
                                 std::string_view digest) {
  const std::string field =
      "HVD-Signature: " +
      SignAnswer(door_.job_key_, signature_, status, digest) + "\r\n";
  connection_.Answer({.status = status, .body = body, .fields = field});
}

V1Door::V1Door(std::string job_key, Handlers handlers)
    : job_key_(std::move(job_key)), handlers_(std::move(handlers)) {}

V1Door::~V1Door() { HVD_CHECK(parked_.empty()); }

std::unique_ptr<HttpConversation> V1Door::Open(HttpConnection& connection) {
  return std::make_unique<Conversation>(*this, connection);
}

void V1Door::Publish(const World& world) {
  world_body_.clear();
  Release(worlds_.Publish(world));
  Release(notices_.Publish(world.epoch));
}

void V1Door::Notify(Epoch epoch, const WorldNotice& notice) {
  if (notice.lost_rank) worlds_.Spoil(epoch);
  Release(notices_.Notify(epoch, notice));
}

void V1Door::Replace(const WorkerId& worker, LaunchId launch) {
  newest_[worker] = launch;
}

void V1Door::SetRingAddress(const std::string& host,
                            const std::string& address) {
  Release(worlds_.SetRingAddress(host, address));
}

void V1Door::Sweep(Instant now) {
  Release(worlds_.Expire(now));
  Release(notices_.Expire(now));
}

void V1Door::Release(const std::vector<hvd::Release>& releases) {
  for (const hvd::Release& release : releases) {
    Conversation* conversation = Unpark(release.waiter);
    if (conversation == nullptr) continue;
    switch (release.outcome) {
      case WorldOutcome::kComplete:
        if (world_body_.empty()) {
          world_body_ = FormatWorldAnswer(worlds_.world(), worlds_.endpoints());
          world_digest_ = BodyDigest(world_body_);
        }
        conversation->Reply(200, world_body_, world_digest_);
        break;
      case WorldOutcome::kNotWanted:
        conversation->Reply(410, "this worker is not wanted any more");
        break;
      case WorldOutcome::kAgain:
        conversation->Reply(204, "");
        break;
      case WorldOutcome::kReplaced:
        conversation->Reply(409, "this worker asked on another connection");
        break;
      case WorldOutcome::kUnknownEpoch:
        conversation->Reply(409, "no world has this epoch yet");
        break;
      case WorldOutcome::kWrongAddress:
        conversation->Reply(kWrongAddressStatus,
                            FormatRingAddress(worlds_.RingAddressOf(
                                conversation->worker().host)));
        break;
    }
  }
}

void V1Door::Release(const std::vector<NoticeBoard::Release>& releases) {
  for (const NoticeBoard::Release& release : releases) {
    Conversation* conversation = Unpark(release.waiter);
    if (conversation == nullptr) continue;
    if (release.notice) {
      conversation->Reply(200, FormatNotice(*release.notice));
    } else {
      conversation->Reply(204, "");
    }
  }
}

V1Door::Conversation* V1Door::Unpark(Waiter waiter) {
  const auto found = parked_.find(waiter);
  if (found == parked_.end()) return nullptr;
  Conversation* conversation = found->second;
  parked_.erase(found);
  return conversation;
}

}  // namespace hvd
