// StreamedConnection: an AgentConnection over two gRPC streams, at either end.
//
// Private to agent_server.cc and agent_client.cc.
#pragma once

#include <utility>

#include "launcher/agent_codec.h"
#include "launcher/agent_connection.h"
#include "launcher/agent_stream.h"

namespace hvd {

template <class Connection, class Control, class Data>
class StreamedConnection;

template <class Sent, class Received, class Control, class Data>
class StreamedConnection<AgentConnection<Sent, Received>, Control, Data>
    : public AgentConnection<Sent, Received> {
 public:
  using Handlers = typename AgentConnection<Sent, Received>::Handlers;

  StreamedConnection(OwnedStream<Control> control, OwnedStream<Data> data)
      : control_(std::move(control)), data_(std::move(data)) {}

  void Start(Handlers handlers) override {
    handlers_ = std::move(handlers);
    control_->SetHandlers(
        {.on_read = [this](auto&& message) { this->OnMessage(message); },
         .on_written = [] {},
         .on_ended = [this] { OnEnded(); }});
    data_->SetHandlers({.on_read =
                            [this](auto&& bytes) {
                              this->OnBytes(
                                  std::forward<decltype(bytes)>(bytes));
                            },
                        .on_written = [this] { handlers_.on_bytes_sent(); },
                        // The other one's end is told after its last message.
                        .on_ended = [] {}});
    control_->AllowRead();
  }
  void Send(Sent message) override { control_->Write(ToWire(message)); }
  void SendBytes(WorkerBytes bytes) override {
    data_->Write(ToWire(std::move(bytes)));
  }
  void ReadMore() override { data_->AllowRead(); }
  void Finish(Sent last) override {
    control_->Write(ToWire(last));
    control_.Close();
    data_.Close();
  }

 private:
  template <class Wire>
  void OnMessage(const Wire& wire) {
    Result<Received> message = FromWire(wire);
    if (!message.ok()) return Fail(std::move(message).error());
    control_->AllowRead();
    handlers_.on_message(std::move(message).value());  // may destroy this
  }
  template <class Wire>
  void OnBytes(Wire&& wire) {
    Result<WorkerBytes> bytes = FromWire(std::forward<Wire>(wire));
    if (!bytes.ok()) return Fail(std::move(bytes).error());
    handlers_.on_bytes(std::move(bytes).value());
  }
  void OnEnded() {
    Fail({ErrorCode::kUnavailable, "the connection between them broke"});
  }
  void Fail(Error why) {
    const auto closed = std::exchange(handlers_.on_closed, nullptr);
    if (closed) closed(std::move(why));  // may destroy this
  }

  OwnedStream<Control> control_;
  OwnedStream<Data> data_;
  Handlers handlers_;
};

}  // namespace hvd
