// AgentPair: both ends of an agent's connection in one process and memory, with
// faults: a cable that is cut, an end that breaks.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/event_loop.h"
#include "launcher/agent_connection.h"

namespace hvd::testing {

// What is on its way in one direction, and whether it arrives.
template <class Message>
struct Way {
  std::deque<Message> messages;
  std::deque<WorkerBytes> bytes;
  bool may_read_bytes = false;
  std::function<void()> on_arrival;  // of the end that reads
  std::function<void()> on_bytes_sent;
};

struct Cable {
  bool cut = false;  // nothing arrives, and nobody is told
  bool broken = false;
  std::optional<Error> why;
};

template <class Sent, class Received>
class PairEnd : public AgentConnection<Sent, Received> {
 public:
  using Handlers = typename AgentConnection<Sent, Received>::Handlers;

  PairEnd(EventLoop& loop, std::shared_ptr<Cable> cable,
          std::shared_ptr<Way<Sent>> out, std::shared_ptr<Way<Received>> in)
      : loop_(loop),
        cable_(std::move(cable)),
        out_(std::move(out)),
        in_(std::move(in)) {}
  ~PairEnd() override {
    in_->on_arrival = nullptr;
    out_->on_bytes_sent = nullptr;
    if (finished_) return;
    cable_->broken = true;
    Wake(out_);
  }
  PairEnd(const PairEnd&) = delete;
  PairEnd& operator=(const PairEnd&) = delete;

  void Start(Handlers handlers) override {
    handlers_ = std::make_shared<Handlers>(std::move(handlers));
    in_->on_arrival = [this] { Deliver(); };
    out_->on_bytes_sent = [this] { handlers_->on_bytes_sent(); };
    Wake(in_);
  }
  void Send(Sent message) override {
    out_->messages.push_back(std::move(message));
    Wake(out_);
  }
  void SendBytes(WorkerBytes bytes) override {
    out_->bytes.push_back(std::move(bytes));
    Wake(out_);
  }
  void ReadMore() override {
    in_->may_read_bytes = true;
    Wake(in_);
  }
  void Finish(Sent last) override {
    Send(std::move(last));
    finished_ = true;
  }

 private:
  template <class Message>
  void Wake(const std::shared_ptr<Way<Message>>& way) {
    loop_.Post([way] {
      if (way->on_arrival) way->on_arrival();
    });
  }

  // One thing at a time: a handler may destroy this.
  void Deliver() {
    if (cable_->cut) return;
    const std::shared_ptr<Handlers> handlers = handlers_;
    const auto in = in_;
    if (!in->messages.empty()) {
      Received message = std::move(in->messages.front());
      in->messages.pop_front();
      Wake(in);
      return handlers->on_message(std::move(message));
    }
    if (in->may_read_bytes && !in->bytes.empty()) {
      in->may_read_bytes = false;
      WorkerBytes bytes = std::move(in->bytes.front());
      in->bytes.pop_front();
      Wake(in);
      loop_.Post([in] {
        if (in->on_bytes_sent) in->on_bytes_sent();
      });
      return handlers->on_bytes(std::move(bytes));
    }
    if (cable_->broken && handlers->on_closed) {
      const auto closed = std::exchange(handlers->on_closed, nullptr);
      closed({ErrorCode::kUnavailable, "the cable broke"});
    }
  }

  EventLoop& loop_;
  std::shared_ptr<Cable> cable_;
  std::shared_ptr<Way<Sent>> out_;
  std::shared_ptr<Way<Received>> in_;
  std::shared_ptr<Handlers> handlers_;
  bool finished_ = false;
};

struct AgentPair {
  explicit AgentPair(EventLoop& loop) {
    auto down = std::make_shared<Way<AgentCommand>>();
    auto up = std::make_shared<Way<AgentEvent>>();
    link = std::make_unique<PairEnd<AgentCommand, AgentEvent>>(loop, cable,
                                                               down, up);
    uplink = std::make_unique<PairEnd<AgentEvent, AgentCommand>>(loop, cable,
                                                                 up, down);
  }

  std::shared_ptr<Cable> cable = std::make_shared<Cable>();
  std::unique_ptr<AgentLink> link;
  std::unique_ptr<AgentUplink> uplink;
};

}  // namespace hvd::testing
