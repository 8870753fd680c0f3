#include "launcher/agent_server.h"

#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/hmac_sha256.h"
#include "launcher/agent_certificate.h"
#include "launcher/proto/agent.grpc.pb.h"
#include "launcher/streamed_connection.h"

namespace hvd {
namespace {

// Above any event; bytes come in pieces of 64 KiB.
constexpr int kMaxMessage = 1 << 20;
// At the end of a job: for the last words to the agents.
constexpr std::chrono::milliseconds kShutdownPatience{300};

std::string Metadata(const grpc::CallbackServerContext& context,
                     const char* name) {
  const auto& all = context.client_metadata();
  const auto found = all.find(name);
  if (found == all.end()) return "";
  return {found->second.data(), found->second.size()};
}

template <class In, class Out>
class ServerStream
    : public AgentStream<grpc::ServerBidiReactor<In, Out>, In, Out> {
 public:
  ServerStream(grpc::CallbackServerContext* context, PostToLoop post)
      : AgentStream<grpc::ServerBidiReactor<In, Out>, In, Out>(std::move(post)),
        context_(context),
        peer_(context->peer()) {}

  const std::string& peer() const { return peer_; }

 private:
  void End() override { this->Finish(grpc::Status::OK); }
  void Break() override { context_->TryCancel(); }
  void OnDone() override { this->Release(); }

  grpc::CallbackServerContext* context_;  // valid until OnDone
  std::string peer_;
};

// Streams that gRPC has opened and the loop has not seen yet. It may never see
// them, at the end of a job; but a server waits for every stream that is open.
class NewStreams {
 public:
  // The number of this one; `cancel` is called at most once.
  std::uint64_t Add(std::function<void()> cancel) {
    const std::scoped_lock lock(mu_);
    if (closed_) {
      cancel();
    } else {
      cancels_[++last_] = std::move(cancel);
    }
    return last_;
  }
  // The loop has seen it.
  void Remove(std::uint64_t number) {
    const std::scoped_lock lock(mu_);
    cancels_.erase(number);
  }
  // The loop will see no more.
  void CancelAll() {
    const std::scoped_lock lock(mu_);
    closed_ = true;
    for (const auto& [number, cancel] : cancels_) cancel();
    cancels_.clear();
  }

 private:
  std::mutex mu_;
  std::map<std::uint64_t, std::function<void()>> cancels_;  // guarded by mu_
  std::uint64_t last_ = 0;                                  // guarded by mu_
  bool closed_ = false;                                     // guarded by mu_
};

using ControlStream = ServerStream<agent::AgentEvent, agent::AgentCommand>;
using DataStream = ServerStream<agent::WorkerBytes, agent::WorkerBytes>;
using ServerLink = StreamedConnection<AgentLink, ControlStream, DataStream>;

class GrpcAgentServer : public AgentServer {
 public:
  GrpcAgentServer(Handlers handlers, Post post)
      : handlers_(std::move(handlers)), post_(std::move(post)) {}
  ~GrpcAgentServer() override {
    if (!server_) return;
    new_streams_.CancelAll();
    server_->Shutdown(WallNow() + kShutdownPatience);
  }
  GrpcAgentServer(const GrpcAgentServer&) = delete;
  GrpcAgentServer& operator=(const GrpcAgentServer&) = delete;

  Status Listen(const Options& options);

  const std::vector<AgentEndpoint>& endpoints() const override {
    return endpoints_;
  }
  const std::string& certificate() const override {
    return certificate_.certificate;
  }
  void Expect(const std::string& host, const std::string& token) override {
    Forget(host);
    expected_[host].token = token;
  }
  void Forget(const std::string& host) override { expected_.erase(host); }

 private:
  // An agent that is not here yet, with what has come of it.
  struct Expected {
    std::string token;
    OwnedStream<ControlStream> control;
    OwnedStream<DataStream> data;
  };

  // gRPC's threads enter here.
  class Service : public agent::Hvdrun::CallbackService {
   public:
    explicit Service(GrpcAgentServer& server) : server_(server) {}
    grpc::ServerBidiReactor<agent::AgentEvent, agent::AgentCommand>* Control(
        grpc::CallbackServerContext* context) override {
      return server_.Open(context, &Expected::control);
    }
    grpc::ServerBidiReactor<agent::WorkerBytes, agent::WorkerBytes>* Data(
        grpc::CallbackServerContext* context) override {
      return server_.Open(context, &Expected::data);
    }

   private:
    GrpcAgentServer& server_;
  };

  bool ListenOn(const Options& options, std::uint16_t port);

  template <class Stream>
  Stream* Open(grpc::CallbackServerContext* context,
               OwnedStream<Stream> Expected::*place) {
    auto stream = std::make_shared<Stream>(context, post_);
    stream->Keep(stream);
    const std::uint64_t number =
        new_streams_.Add([stream] { stream->Cancel(); });
    post_([this, alive = std::weak_ptr<int>(alive_), stream, place, number,
           host = Metadata(*context, kHostMetadata),
           token = Metadata(*context, kTokenMetadata)] {
      OwnedStream owned(stream);
      if (alive.expired()) return;
      new_streams_.Remove(number);
      OnOpened(std::move(owned), host, token, place);
    });
    return stream.get();
  }

  template <class Stream>
  void OnOpened(OwnedStream<Stream> stream, const std::string& host,
                const std::string& token,
                OwnedStream<Stream> Expected::*place) {
    const auto expected = expected_.find(host);
    if (expected == expected_.end() ||
        !EqualInConstantTime(expected->second.token, token)) {
      handlers_.on_refused(stream->peer() +
                           " is no agent that this job waits for");
      return;
    }
    expected->second.*place = std::move(stream);
    if (!expected->second.control || !expected->second.data) return;
    auto node = expected_.extract(expected);
    handlers_.on_agent(node.key(), std::make_unique<ServerLink>(
                                       std::move(node.mapped().control),
                                       std::move(node.mapped().data)));
  }

  Handlers handlers_;
  Post post_;
  AgentCertificate certificate_;
  std::vector<AgentEndpoint> endpoints_;
  std::map<std::string, Expected> expected_;
  NewStreams new_streams_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Open()
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;  // ends before all that it uses
};

Status GrpcAgentServer::Listen(const Options& options) {
  KeepGrpcQuiet();
  KeepBlocks();
  Result<AgentCertificate> made = MakeAgentCertificate();
  if (!made.ok()) return std::move(made).error();
  certificate_ = std::move(made).value();
  const PortRange& range = options.ports;
  if (range.any() && ListenOn(options, 0)) return Done{};
  // Not all jobs should try the same port first.
  const unsigned count = range.any() ? 0 : range.last - range.first + 1U;
  const unsigned start = count == 0 ? 0 : std::random_device{}() % count;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned port = range.first + (start + i) % count;
    if (ListenOn(options, static_cast<std::uint16_t>(port))) return Done{};
  }
  std::string text;
  for (const std::string& address : options.addresses) text += ' ' + address;
  if (!range.any()) text += " within --port-range " + ToString(range);
  return Error{ErrorCode::kUnavailable,
               "no port for the agents to dial is free on" + text};
}

bool GrpcAgentServer::ListenOn(const Options& options, std::uint16_t port) {
  grpc::SslServerCredentialsOptions tls(
      GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  tls.pem_key_cert_pairs.push_back(
      {certificate_.key, certificate_.certificate});
  grpc::ServerBuilder builder;
  // Else a second hvdrun with the same port would take half of our agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  builder.SetMaxReceiveMessageSize(kMaxMessage);
  service_ = std::make_unique<Service>(*this);
  builder.RegisterService(service_.get());
  std::vector<int> ports(options.addresses.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    builder.AddListeningPort(
        ToString(AgentEndpoint{options.addresses[i], port}),
        grpc::SslServerCredentials(tls), &ports[i]);
  }
  server_ = builder.BuildAndStart();
  if (!server_) return false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    endpoints_.push_back(
        {options.addresses[i], static_cast<std::uint16_t>(ports[i])});
  }
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void HvdListenForAgents(
    const AgentServer::Options& options, AgentServer::Handlers handlers,
    AgentServer::Post post, Result<std::unique_ptr<AgentServer>>& out) {
  auto server =
      std::make_unique<GrpcAgentServer>(std::move(handlers), std::move(post));
  const Status listening = server->Listen(options);
  if (listening.ok()) {
    out = std::unique_ptr<AgentServer>(std::move(server));
  } else {
    out = listening.error();
  }
}

}  // namespace hvd
