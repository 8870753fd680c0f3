#include "rendezvous/rendezvous_server.h"

#include <set>
#include <utility>

#include "base/check.h"
#include "base/socket_address.h"
#include "rendezvous/hosts_door.h"
#include "rendezvous/http_listener.h"
#include "rendezvous/store_door.h"
#include "rendezvous/v1_door.h"

namespace hvd {
namespace {

constexpr std::string_view kV1Prefix = "/v1/";
// A flood of peers must not become a flood of lines.
constexpr std::size_t kMaxRefusalsReported = 100;

// Leads each request of one connection to its door.
class Doors : public HttpConversation {
 public:
  // `hosts` may be null: then /v1/hosts is as good as any path of /v1.
  Doors(std::unique_ptr<HttpConversation> v1,
        std::unique_ptr<HttpConversation> store,
        std::unique_ptr<HttpConversation> hosts)
      : v1_(std::move(v1)),
        store_(std::move(store)),
        hosts_(std::move(hosts)) {}

  std::optional<HttpRefusal> OnHead(const RequestHead& head) override {
    return DoorFor(head).OnHead(head);
  }
  void OnRequest(const RequestHead& head, std::string_view body) override {
    DoorFor(head).OnRequest(head, body);
  }

 private:
  HttpConversation& DoorFor(const RequestHead& head) {
    if (hosts_ && head.target == kHostsTarget) return *hosts_;
    return head.target.starts_with(kV1Prefix) ? *v1_ : *store_;
  }

  std::unique_ptr<HttpConversation> v1_;
  std::unique_ptr<HttpConversation> store_;
  std::unique_ptr<HttpConversation> hosts_;
};

class HttpRendezvousServer : public RendezvousServer {
 public:
  HttpRendezvousServer(EventLoop& loop, const RendezvousOptions& options,
                       RendezvousHandlers handlers)
      : on_refused_(std::move(handlers.on_refused)),
        store_(loop, options.elastic,
               {.on_ready = handlers.on_ready,
                .on_misplaced = std::move(handlers.on_misplaced)}),
        v1_(options.job_key, {.on_ready = std::move(handlers.on_ready),
                              .on_heard = std::move(handlers.on_heard),
                              .on_blame = std::move(handlers.on_blame),
                              .on_log = std::move(handlers.on_log),
                              .on_result = std::move(handlers.on_result)}) {
    if (!options.push) return;
    hosts_.emplace(options.push->token, options.push->max_body,
                   std::move(handlers.on_hosts));
  }

  Status Listen(EventLoop& loop, const RendezvousOptions& options) {
    Result<std::unique_ptr<HttpListener>> listener = HttpListener::Listen(
        loop,
        {.address = options.bind_address,
         .ports = options.ports,
         .limits = options.limits},
        {.on_accept =
             [this](HttpConnection& connection) {
               return std::make_unique<Doors>(
                   v1_.Open(connection), store_.Open(connection),
                   hosts_ ? hosts_->Open(connection) : nullptr);
             },
         .on_refused =
             [this](const HttpConnection& connection,
                    const HttpRefusal& refusal) {
               Report(connection, refusal);
             },
         .on_sweep =
             [this](Instant now) {
               v1_.Sweep(now);
               store_.Sweep(now);
             }});
    if (!listener.ok()) return std::move(listener).error();
    listener_ = std::move(listener).value();
    return Done{};
  }

  std::uint16_t port() const override { return listener_->port(); }
  Result<std::uint16_t> AddAddress(const std::string& address) override {
    return listener_->AddAddress(address);
  }

  void SetRingAddress(const std::string& host,
                      const std::string& address) override {
    v1_.SetRingAddress(host, address);
  }

  void Started(const StartedWorkers& started) override {
    store_.Started(started);
  }
  void Ended(const WorkerId& worker) override { store_.Ended(worker); }

  void Publish(const World& world) override {
    store_.Publish(world);
    v1_.Publish(world);
  }

  void Replace(const WorkerId& worker, LaunchId launch) override {
    v1_.Replace(worker, launch);
  }

  void Notify(Epoch epoch, WorldNotice notice) override {
    if (notice.lost_rank.value_or(0) < 0) notice.lost_rank.reset();
    v1_.Notify(epoch, notice);
  }

 private:
  void Report(const HttpConnection& connection, const HttpRefusal& refusal) {
    const std::string peer = AddressOf(connection.peer());
    if (reported_.size() >= kMaxRefusalsReported) return;
    if (!reported_.emplace(refusal.kind, peer).second) return;
    on_refused_("request from " + peer + " refused: " + refusal.why);
  }

  const std::function<void(std::string)> on_refused_;
  std::set<std::pair<std::string, std::string>> reported_;  // kind, peer
  StoreDoor store_;
  V1Door v1_;
  std::optional<HostsDoor> hosts_;
  std::unique_ptr<HttpListener>
      listener_;  // last: its connections use the doors
};

}  // namespace

Result<std::unique_ptr<RendezvousServer>> RendezvousServer::Listen(
    EventLoop& loop, const RendezvousOptions& options,
    RendezvousHandlers handlers) {
  HVD_CHECK(handlers.on_ready && handlers.on_heard && handlers.on_blame &&
            handlers.on_log && handlers.on_result && handlers.on_refused &&
            (handlers.on_misplaced || !options.elastic));
  auto server = std::make_unique<HttpRendezvousServer>(loop, options,
                                                       std::move(handlers));
  const Status listening = server->Listen(loop, options);
  if (!listening.ok()) return listening.error();
  return std::unique_ptr<RendezvousServer>(std::move(server));
}

}  // namespace hvd
