#include "rendezvous/store_door.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/check.h"
#include "base/socket_address.h"

namespace hvd {
namespace {

// Horovod's default patience is 30 s, and it is at its clock again after this.
constexpr Duration kAddressWait{15'000};
// A worker that was told and has not come may have lost the message, as it was
// busy with its last change of hosts.
constexpr Duration kTellEvery{2'000};
constexpr std::string_view kPlaceScope = "rank_and_size";
constexpr std::string_view kAddressScope = "worker_addresses";
constexpr std::string_view kRankPrefix = "rank_";

std::optional<HttpRefusal> RefusePeer(PeerOwner& owners,
                                      const HttpConnection& connection) {
  if (!IsLoopback(connection.peer())) {
    return HttpRefusal{403, "unsigned from another host",
                       "authentication: unsigned requests are served to "
                       "this host only"};
  }
  const Result<uid_t> owner =
      owners.Find(connection.local(), connection.peer());
  if (!owner.ok()) {
    return HttpRefusal{403, "unsigned from nobody",
                       "authentication: " + owner.error().message()};
  }
  if (owner.value() != ::geteuid()) {
    return HttpRefusal{403, "unsigned from another user",
                       "authentication: unsigned requests are served to "
                       "this job's user only, not to uid " +
                           std::to_string(owner.value())};
  }
  return std::nullopt;
}

std::optional<int> ToRank(std::string_view text) {
  int rank = 0;
  const auto [end, ec] =
      std::from_chars(text.data(), text.data() + text.size(), rank);
  const bool whole = ec == std::errc{} && end == text.data() + text.size();
  return whole && rank >= 0 ? std::optional(rank) : std::nullopt;
}

// Of the process that says who it is, before it does anything else.
std::optional<int> AnnouncedRank(const StorePath& path) {
  if (path.scope != "global" || !path.key.starts_with(kRankPrefix)) {
    return std::nullopt;
  }
  return ToRank(path.key.substr(kRankPrefix.size()));
}

}  // namespace

std::optional<StorePath> ParseStorePath(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const StorePath path{target.substr(0, slash), target.substr(slash + 1)};
  if (path.scope.empty() || path.key.empty()) return std::nullopt;
  if (path.key.find('/') != std::string_view::npos) return std::nullopt;
  return path;
}

class StoreDoor::Conversation : public HttpConversation {
 public:
  Conversation(StoreDoor& door, HttpConnection& connection)
      : door_(door), connection_(connection) {}
  ~Conversation() override {
    if (door_.parked_.erase(waiter()) > 0) door_.board_.Leave(waiter());
    if (awaited_.empty()) return;
    const auto found = door_.awaited_.find(awaited_);
    if (found == door_.awaited_.end()) return;
    std::erase(found->second, this);
    if (found->second.empty()) door_.awaited_.erase(found);
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  std::optional<HttpRefusal> OnHead(const RequestHead& head) override;
  void OnRequest(const RequestHead& head, std::string_view body) override;

  void Answer(int status, std::string_view body = {}) {
    connection_.Answer({.status = status, .body = body});
  }
  // The PUT that was kept goes on.
  void PutKept() { Put(std::exchange(kept_path_, {}), kept_value_); }
  // The GET that was kept is over, one way or the other.
  void EndAwait() {
    const std::string path = std::exchange(awaited_, {});
    Get(path, false);
  }
  Instant until() const { return until_; }

 private:
  Waiter waiter() const { return Waiter{connection_.id()}; }

  void OnGet(const RequestHead& head, const StorePath& path);
  void OnPut(const RequestHead& head, const StorePath& path,
             std::string_view body);
  void Get(std::string_view target, bool may_wait);
  void Put(std::string_view target, std::string_view value);
  void Park() { door_.parked_[waiter()] = this; }

  StoreDoor& door_;
  HttpConnection& connection_;
  bool peer_is_proved_ = false;
  std::string awaited_;    // the target of a GET that is kept
  Instant until_{};        // of that
  std::string kept_path_;  // of a PUT that is kept
  std::string kept_value_;
};

std::optional<HttpRefusal> StoreDoor::Conversation::OnHead(
    const RequestHead& head) {
  if (!peer_is_proved_) {
    if (auto refusal = RefusePeer(door_.owners_, connection_)) return refusal;
    peer_is_proved_ = true;
  }
  const std::uint64_t length = head.content_length.value_or(0);
  if (head.method == HttpMethod::kPut && !head.content_length) {
    return HttpRefusal{411, "no length", "PUT needs a Content-Length"};
  }
  if (head.chunked) {
    return HttpRefusal{411, "no length", "chunked bodies are not read"};
  }
  if (length > kMaxValueBytes) {
    return HttpRefusal{
        413, "large value",
        "value of " + std::to_string(length) + " bytes is over 16 MiB"};
  }
  return std::nullopt;
}

void StoreDoor::Conversation::OnRequest(const RequestHead& head,
                                        std::string_view body) {
  const std::optional<StorePath> path = ParseStorePath(head.target);
  if (!path) return Answer(400);
  switch (head.method) {
    case HttpMethod::kGet:
      return OnGet(head, *path);
    case HttpMethod::kPut:
      return OnPut(head, *path, body);
    case HttpMethod::kDelete:
      door_.store_.Delete(path->scope, path->key);
      return Answer(200);
    case HttpMethod::kPost:
    case HttpMethod::kOther:
      return Answer(405);
  }
}

void StoreDoor::Conversation::OnGet(const RequestHead& head,
                                    const StorePath& path) {
  if (!door_.elastic_ || path.scope != kPlaceScope) {
    return Get(head.target, ToRank(path.key).has_value());
  }
  Park();
  door_.Apply(door_.board_.Ask(waiter(), path.key));
}

void StoreDoor::Conversation::OnPut(const RequestHead& head,
                                    const StorePath& path,
                                    std::string_view body) {
  if (door_.elastic_ && path.scope == kPlaceScope) return Answer(405);
  if (door_.elastic_ && path.scope == kAddressScope) {
    std::optional<HorovodListener> listener = ParseWorkerAddresses(body);
    if (!listener) return Answer(400, "not a worker's addresses");
    Answer(200);
    return door_.Apply(door_.board_.Register(path.key, *std::move(listener)));
  }
  const std::optional<int> rank =
      door_.elastic_ ? AnnouncedRank(path) : std::nullopt;
  if (rank) {
    if (const auto effects = door_.board_.Announce(waiter(), *rank)) {
      kept_path_ = head.target;
      kept_value_ = body;
      Park();
      return door_.Apply(*effects);
    }
  }
  Put(head.target, body);
}

void StoreDoor::Conversation::Get(std::string_view target, bool may_wait) {
  const StorePath path = *ParseStorePath(target);
  const std::string* value = door_.store_.Get(path.scope, path.key);
  if (value != nullptr) return Answer(200, *value);
  if (!may_wait) return Answer(404);
  awaited_ = target;
  until_ = door_.loop_.Now() + kAddressWait;
  door_.awaited_[awaited_].push_back(this);
}

void StoreDoor::Conversation::Put(std::string_view target,
                                  std::string_view value) {
  const StorePath path = *ParseStorePath(target);
  const bool stored = door_.store_.Put(path.scope, path.key, value);
  const auto found = door_.awaited_.find(target);
  std::vector<Conversation*> waiting;
  if (stored && found != door_.awaited_.end()) {
    waiting = std::move(found->second);
    door_.awaited_.erase(found);
  }
  Answer(stored ? 200 : 507);
  for (Conversation* conversation : waiting) conversation->EndAwait();
}

StoreDoor::StoreDoor(EventLoop& loop, bool elastic, Handlers handlers)
    : loop_(loop),
      elastic_(elastic),
      handlers_(std::move(handlers)),
      caller_(loop) {}

StoreDoor::~StoreDoor() { HVD_CHECK(parked_.empty() && awaited_.empty()); }

std::unique_ptr<HttpConversation> StoreDoor::Open(HttpConnection& connection) {
  return std::make_unique<Conversation>(*this, connection);
}

void StoreDoor::Publish(const World& world) {
  if (!elastic_) return Empty(world);
  Apply(board_.Publish(world));
}

void StoreDoor::Started(const StartedWorkers& started) {
  if (elastic_) board_.Started(started);
}

void StoreDoor::Ended(const WorkerId& worker) {
  if (elastic_) Apply(board_.Ended(worker));
}

void StoreDoor::Sweep(Instant now) {
  std::vector<Conversation*> over;
  for (auto at = awaited_.begin(); at != awaited_.end();) {
    std::vector<Conversation*>& waiting = at->second;
    const auto late =
        std::partition(waiting.begin(), waiting.end(),
                       [&](const Conversation* c) { return c->until() > now; });
    over.insert(over.end(), late, waiting.end());
    waiting.erase(late, waiting.end());
    at = waiting.empty() ? awaited_.erase(at) : std::next(at);
  }
  for (Conversation* conversation : over) conversation->EndAwait();
}

// In the order that Horovod counts on: first the store is empty, then somebody
// uses it.
void StoreDoor::Apply(const Effects& effects) {
  if (effects.handed_out) Empty(board_.current());
  for (const Waiter waiter : effects.replaced) {
    if (Conversation* conversation = Unpark(waiter)) conversation->Answer(409);
  }
  for (const Waiter waiter : effects.admitted) {
    if (Conversation* conversation = Unpark(waiter)) conversation->PutKept();
  }
  for (const auto& [waiter, place] : effects.places) {
    if (Conversation* conversation = Unpark(waiter)) {
      conversation->Answer(200, place);
    }
  }
  Report(effects);
  TellWorkers();
}

void StoreDoor::Empty(const World& world) {
  store_.Reset(world);
  for (const auto& [target, waiting] : std::exchange(awaited_, {})) {
    for (Conversation* conversation : waiting) conversation->EndAwait();
  }
}

StoreDoor::Conversation* StoreDoor::Unpark(Waiter waiter) {
  const auto found = parked_.find(waiter);
  if (found == parked_.end()) return nullptr;
  Conversation* conversation = found->second;
  parked_.erase(found);
  return conversation;
}

void StoreDoor::Report(const Effects& effects) {
  ready_.insert(ready_.end(), effects.ready.begin(), effects.ready.end());
  misplaced_.insert(misplaced_.end(), effects.misplaced.begin(),
                    effects.misplaced.end());
  if (report_ || (ready_.empty() && misplaced_.empty())) return;
  report_ = loop_.After(Duration{0}, [this] {
    report_.reset();
    for (const WorkerId& worker : std::exchange(misplaced_, {})) {
      handlers_.on_misplaced(worker);
    }
    for (const auto& [worker, after] : std::exchange(ready_, {})) {
      handlers_.on_ready(worker, after);
    }
  });
}

void StoreDoor::TellWorkers() {
  const HorovodListener* listener = board_.WhomToTell();
  if (listener == nullptr) return next_call_.reset();
  if (next_call_) return;
  caller_.Call(*listener);
  next_call_ = loop_.After(kTellEvery, [this] {
    next_call_.reset();
    TellWorkers();
  });
}

}  // namespace hvd
