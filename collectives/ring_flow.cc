#include "collectives/ring_flow.h"

#include <algorithm>
#include <array>
#include <span>

#include "collectives/reduce_kernels.h"

namespace hvd {
namespace {

std::span<const std::byte> BytesOf(const SendPiece& piece) {
  return {static_cast<const std::byte*>(piece.data), piece.bytes};
}

}  // namespace

void Flow::Clear() {
  sends.clear();
  receives.clear();
  head = 0;
  prefix = 0;
  divisor = 1;
  own_size = 0;
}

std::size_t RingFlow::Allowance() const {
  const std::size_t unlocked = std::max(received_, flow_.prefix) - flow_.prefix;
  return flow_.head + unlocked - sent_;
}

RingFlow::RingFlow(const Flow& flow, SendChannel& right, ReceiveChannel& left)
    : flow_(flow), right_(right), left_(left) {
  SkipEmptyPieces();
}

void RingFlow::SkipEmptyPieces() {
  while (!all_sent() && flow_.sends[send_index_].bytes == 0) ++send_index_;
  while (!all_received() && flow_.receives[receive_index_].bytes == 0) {
    ++receive_index_;
  }
}

Result<bool> RingFlow::Send() {
  if (!may_send()) return false;
  const SendPiece& piece = flow_.sends[send_index_];
  const Result<std::size_t> n = SendSome(piece);
  if (!n.ok()) return n.error();
  sent_ += n.value();
  send_at_ += n.value();
  if (send_at_ == Padded(piece.bytes)) {
    ++send_index_;
    send_at_ = 0;
    SkipEmptyPieces();
  }
  return n.value() > 0;
}

Result<std::size_t> RingFlow::SendSome(const SendPiece& piece) {
  static constexpr std::array<std::byte, kUnit> kZeroes{};
  const std::span<const std::byte> rest =
      send_at_ < piece.bytes
          ? BytesOf(piece).subspan(send_at_)
          : std::span(kZeroes).first(Padded(piece.bytes) - send_at_);
  return right_.TrySend(rest.first(std::min(rest.size(), Allowance())));
}

Result<bool> RingFlow::Receive() {
  if (all_received()) return false;
  const ReceivePiece& piece = flow_.receives[receive_index_];
  const Result<std::size_t> n = ReceiveSome(piece);
  if (!n.ok()) return n.error();
  received_ += n.value();
  receive_at_ += n.value();
  if (receive_at_ == Padded(piece.bytes)) {
    ++receive_index_;
    receive_at_ = 0;
    SkipEmptyPieces();
  }
  return n.value() > 0;
}

Result<std::size_t> RingFlow::ReceiveSome(const ReceivePiece& piece) {
  if (receive_at_ >= piece.bytes) {
    return ReceivePadding(Padded(piece.bytes) - receive_at_);
  }
  switch (piece.on_receipt) {
    case OnReceipt::kStore:
      return left_.TryReceive({static_cast<std::byte*>(piece.out) + receive_at_,
                               piece.bytes - receive_at_});
    case OnReceipt::kCombine:
    case OnReceipt::kCombineLast:
      return CombineSome(piece);
  }
  HVD_CHECK(false);
}

Result<std::size_t> RingFlow::ReceivePadding(std::size_t bytes) {
  std::array<std::byte, kUnit> padding{};
  return left_.TryReceive(std::span(padding).first(bytes));
}

Result<std::size_t> RingFlow::CombineSome(const ReceivePiece& piece) {
  const Result<std::span<const std::byte>> incoming =
      left_.Peek(piece.bytes - receive_at_);
  if (!incoming.ok()) return incoming.error();
  const std::size_t element = SizeOf(flow_.type);
  const std::size_t count = incoming.value().size() / element;
  if (count == 0) return std::size_t{0};  // the rest of an element is to come
  const bool wide = flow_.own_size != 0 && flow_.own_size != element;
  const std::size_t own_at =
      receive_at_ / element * (wide ? flow_.own_size : element);
  const void* const own = static_cast<const std::byte*>(piece.own) + own_at;
  // What kJoin widens is its first array.
  const std::array<const void*, 2> arrays =
      wide ? std::array<const void*, 2>{own, incoming.value().data()}
           : std::array<const void*, 2>{incoming.value().data(), own};
  const bool last = piece.on_receipt == OnReceipt::kCombineLast;
  Reduce(wide ? KernelForm::kJoin : KernelForm::kPlain,
         static_cast<std::byte*>(piece.out) + receive_at_, arrays, count,
         flow_.type, flow_.op, last ? flow_.divisor : 1);
  left_.Consume(count * element);
  return count * element;
}

}  // namespace hvd
