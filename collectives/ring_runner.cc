#include "collectives/ring_runner.h"

#include <poll.h>

#include <array>
#include <cstring>
#include <utility>

namespace hvd {

// One flow, as Vigil::Until wants it.
class RingRunner::Wait {
 public:
  explicit Wait(RingRunner& runner)
      : runner_(runner),
        flow_(runner.flow_, *runner.parts_.to_right, *runner.parts_.from_left),
        checked_(!runner.with_call_) {}

  bool done() const { return flow_.done(); }

  Result<bool> Move() {
    Result<bool> received = flow_.Receive();
    if (!received.ok()) return received;
    if (!checked_ && flow_.pieces_received() > 0) {
      checked_ = true;
      Status fits =
          runner_.vigil_.Check(runner_.parts_.left, runner_.left_call_);
      if (!fits.ok()) return std::move(fits).error();
    }
    Result<bool> sent = flow_.Send();
    if (!sent.ok()) return sent;
    return received.value() || sent.value();
  }

  void Sleep(Duration at_most) {
    std::array<pollfd, 3> fds{pollfd{runner_.doorbell_.fd(), POLLIN, 0},
                              pollfd{-1, 0, 0}, pollfd{-1, 0, 0}};
    bool ready = false;
    const auto arm = [&](auto& channel, pollfd& slot) {
      const std::optional<pollfd> armed = channel.Arm();
      ready = ready || !armed;
      if (armed) slot = *armed;
    };
    if (!flow_.all_received()) arm(*runner_.parts_.from_left, fds[1]);
    if (flow_.may_send()) arm(*runner_.parts_.to_right, fds[2]);
    if (!ready) {
      (void)::poll(fds.data(), fds.size(), static_cast<int>(at_most.count()));
      if (fds[0].revents != 0) runner_.doorbell_.Drain();
    }
    runner_.parts_.from_left->Disarm();
    runner_.parts_.to_right->Disarm();
  }

  // Who has everything and cannot send waits for the right one; else the left
  // one has not sent.
  int Suspect() const {
    return flow_.all_received() ? runner_.parts_.right : runner_.parts_.left;
  }

 private:
  RingRunner& runner_;
  RingFlow flow_;
  bool checked_;
};

RingRunner::RingRunner(Parts parts, const Doorbell& doorbell, Vigil& vigil)
    : parts_(std::move(parts)), doorbell_(doorbell), vigil_(vigil) {}

Flow& RingRunner::NewFlow() {
  flow_.Clear();
  with_call_ = false;
  return flow_;
}

Flow& RingRunner::NewFlowWithCall() {
  flow_.Clear();
  with_call_ = true;
  flow_.sends.push_back({&vigil_.call(), sizeof(CallHeader)});
  flow_.receives.push_back({&left_call_, sizeof(left_call_)});
  flow_.head = sizeof(CallHeader);
  flow_.prefix = sizeof(left_call_);
  return flow_;
}

Status RingRunner::Run() {
  Wait wait(*this);
  running_ = true;
  Status status = vigil_.Until(wait, parts_.wait);
  running_ = false;
  return status;
}

Status RingRunner::PassTokens(int size) {
  Flow& flow = NewFlowWithCall();
  for (int step = 0; step < size - 1; ++step) {
    flow.sends.push_back({&token_, sizeof(token_)});
    flow.receives.push_back({&token_, sizeof(token_)});
  }
  flow.head += sizeof(token_);
  return Run();
}

Status RingRunner::LookForStrays() {
  if (running_) return Done{};
  const Result<std::span<const std::byte>> there =
      parts_.from_left->Peek(sizeof(CallHeader));
  // Whoever broke the connection is the watch's business.
  if (!there.ok() || there.value().size() < sizeof(CallHeader)) return Done{};
  CallHeader call;
  std::memcpy(&call, there.value().data(), sizeof(call));
  return vigil_.Check(parts_.left, call);
}

}  // namespace hvd
