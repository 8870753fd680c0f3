#include "launcher/keeper_channel.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "base/fd_passing.h"

namespace hvd {
namespace {

constexpr std::size_t kWorkerFds = 3;  // a worker's 0, 1 and 2
constexpr std::size_t kReadSize = 64U << 10U;

}  // namespace

Status KeeperChannel::Send(std::string frame, std::vector<UniqueFd> fds) {
  HVD_CHECK(fds.size() <= kMaxPassedFds);
  out_.push_back({std::move(frame), 0, std::move(fds)});
  return Flush();
}

Status KeeperChannel::Flush() {
  while (!out_.empty()) {
    Outgoing& next = out_.front();
    std::vector<int> numbers;
    for (const UniqueFd& fd : next.fds) numbers.push_back(fd.get());
    Result<std::size_t> sent = SendStep(
        socket_.get(), std::string_view(next.bytes).substr(next.sent), numbers);
    if (!sent.ok()) return std::move(sent).error().Wrap("keeper socket");
    if (sent.value() == 0) return Done{};
    next.fds.clear();
    next.sent += sent.value();
    if (next.sent == next.bytes.size()) out_.pop_front();
  }
  return Done{};
}

Result<KeeperChannel::Received> KeeperChannel::Receive() {
  std::array<char, kReadSize> buffer;
  std::vector<UniqueFd> fds;
  Result<ReceivedStep> step = ReceiveStep(socket_.get(), buffer, fds);
  if (!step.ok()) return std::move(step).error().Wrap("keeper socket");
  // As many invalid ones: with some missing, the rest would be taken for
  // another worker's.
  if (step.value().fds_lost) fds.resize(kWorkerFds);
  for (UniqueFd& fd : fds) fds_.push_back(std::move(fd));
  if (step.value().end) return Received::kEndOfFile;
  if (step.value().bytes == 0) return Received::kNothing;
  reader_.Append({buffer.data(), step.value().bytes});
  return Received::kBytes;
}

UniqueFd KeeperChannel::TakeFd() {
  if (fds_.empty()) return UniqueFd();
  UniqueFd fd = std::move(fds_.front());
  fds_.pop_front();
  return fd;
}

}  // namespace hvd
