#include "launcher/agent_client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/seconds.h"
#include "launcher/agent_certificate.h"
#include "launcher/proto/agent.grpc.pb.h"
#include "launcher/streamed_connection.h"

namespace hvd {
namespace {

// A command has an environment of up to 6 MB with it.
constexpr int kMaxMessage = 16 << 20;

// Counts the calls that gRPC is not done with.
class OpenCalls {
 public:
  void Opened() {
    const std::scoped_lock lock(mu_);
    ++count_;
  }
  void Done() {
    const std::scoped_lock lock(mu_);
    --count_;
    none_.notify_all();
  }
  void AwaitNone() {
    std::unique_lock lock(mu_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mu_;
  std::condition_variable none_;
  int count_ = 0;  // guarded by mu_
};

template <class In, class Out>
class ClientStream
    : public AgentStream<grpc::ClientBidiReactor<Out, In>, In, Out> {
 public:
  ClientStream(PostToLoop post, std::shared_ptr<OpenCalls> calls)
      : AgentStream<grpc::ClientBidiReactor<Out, In>, In, Out>(std::move(post)),
        calls_(std::move(calls)) {
    calls_->Opened();
  }

  grpc::ClientContext& context() { return context_; }
  void Begin() {
    this->AddHold();  // reads and writes begin outside of reactions
    this->StartCall();
  }

 private:
  void End() override {
    Break();
    this->RemoveHold();
  }
  void Break() override { context_.TryCancel(); }
  void OnDone(const grpc::Status& status) override {
    (void)status;
    const std::shared_ptr<OpenCalls> calls = calls_;
    this->Release();
    calls->Done();
  }

  grpc::ClientContext context_;
  std::shared_ptr<OpenCalls> calls_;
};

using ControlStream = ClientStream<agent::AgentCommand, agent::AgentEvent>;
using DataStream = ClientStream<agent::WorkerBytes, agent::WorkerBytes>;
using ClientUplink = StreamedConnection<AgentUplink, ControlStream, DataStream>;

std::shared_ptr<grpc::Channel> OpenChannel(const DialOptions& options,
                                           const AgentEndpoint& endpoint) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = options.certificate;
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(kAgentServerName);
  arguments.SetMaxReceiveMessageSize(kMaxMessage);
  // An address on a wrong network should not wait for gRPC's own 20 s.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // The user's proxy is for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  return grpc::CreateCustomChannel(ToString(endpoint),
                                   grpc::SslCredentials(tls), arguments);
}

// What the dialling threads share with the client.
struct Race {
  std::atomic<bool> over = false;  // somebody won, or nobody waits any more
  std::atomic<std::size_t> runners = 0;
};

class GrpcAgentClient : public AgentClient {
 public:
  GrpcAgentClient(EventLoop& loop, DialOptions options,
                  std::function<void(Result<DialedHvdrun>)> done)
      : options_(std::move(options)),
        done_(std::move(done)),
        post_([&loop](std::function<void()> fn) { loop.Post(std::move(fn)); }) {
    KeepGrpcQuiet();
    KeepBlocks();
    race_.runners = options_.endpoints.size();
    for (const AgentEndpoint& endpoint : options_.endpoints) {
      runners_.emplace_back([this, endpoint] { Run(endpoint); });
    }
  }
  ~GrpcAgentClient() override {
    race_.over = true;
    for (std::thread& runner : runners_) runner.join();
    calls_->AwaitNone();
  }
  GrpcAgentClient(const GrpcAgentClient&) = delete;
  GrpcAgentClient& operator=(const GrpcAgentClient&) = delete;

 private:
  // On a thread of its own: connects, and if it is the first, tells.
  void Run(const AgentEndpoint& endpoint) {
    constexpr std::chrono::milliseconds kLook{50};
    const std::shared_ptr<grpc::Channel> channel =
        OpenChannel(options_, endpoint);
    const auto deadline = WallNow() + options_.limit;
    bool connected = false;
    while (!connected && !race_.over && WallNow() < deadline) {
      connected = channel->WaitForConnected(WallNow() + kLook);
    }
    const bool first = connected && !race_.over.exchange(true);
    const bool last = --race_.runners == 0;
    if (first) {
      Tell([this, endpoint, channel] { OnConnected(endpoint, channel); });
    } else if (last && !race_.over.exchange(true)) {
      Tell([this] { OnNobody(); });
    }
  }

  void Tell(std::function<void()> fn) {
    post_([alive = std::weak_ptr<int>(alive_), fn = std::move(fn)] {
      if (!alive.expired()) fn();
    });
  }

  void OnConnected(const AgentEndpoint& endpoint,
                   const std::shared_ptr<grpc::Channel>& channel) {
    stub_ = agent::Hvdrun::NewStub(channel);
    auto control = NewStream<ControlStream>();
    stub_->async()->Control(&control->context(), control.get());
    control->Begin();
    auto data = NewStream<DataStream>();
    stub_->async()->Data(&data->context(), data.get());
    data->Begin();
    done_(DialedHvdrun{endpoint,
                       std::make_unique<ClientUplink>(
                           OwnedStream<ControlStream>(std::move(control)),
                           OwnedStream<DataStream>(std::move(data)))});
  }

  template <class Stream>
  std::shared_ptr<Stream> NewStream() {
    auto stream = std::make_shared<Stream>(post_, calls_);
    stream->Keep(stream);
    stream->context().AddMetadata(kHostMetadata, options_.host);
    stream->context().AddMetadata(kTokenMetadata, options_.token);
    return stream;
  }

  void OnNobody() {
    std::string text;
    for (const AgentEndpoint& endpoint : options_.endpoints) {
      text += (text.empty() ? "" : ", ") + ToString(endpoint);
    }
    done_(Error{ErrorCode::kTimeout, "hvdrun cannot be reached from here at " +
                                         text + " within " +
                                         SecondsText(options_.limit)});
  }

  const DialOptions options_;
  std::function<void(Result<DialedHvdrun>)> done_;
  PostToLoop post_;
  std::shared_ptr<OpenCalls> calls_ = std::make_shared<OpenCalls>();
  std::unique_ptr<agent::Hvdrun::Stub> stub_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // see Tell()
  Race race_;
  std::vector<std::thread> runners_;
};

}  // namespace

std::unique_ptr<AgentClient> AgentClient::Dial(
    EventLoop& loop, DialOptions options,
    std::function<void(Result<DialedHvdrun>)> done) {
  return std::make_unique<GrpcAgentClient>(loop, std::move(options),
                                           std::move(done));
}

}  // namespace hvd
