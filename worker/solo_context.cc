#include "worker/solo_context.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "collectives/solo_communicator.h"
#include "rendezvous/rendezvous_client.h"

namespace hvd {
namespace {

std::string MachineName() {
  std::array<char, 256> name{};  // HOST_NAME_MAX is 64
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

class SoloContext : public Context {
 public:
  SoloContext() { identity_.host = MachineName(); }

  const Identity& identity() const override { return identity_; }
  Communicator& communicator() override { return communicator_; }
  CommQueue& queue() override { return queue_; }

  Status Rejoin() override {
    return Error(ErrorCode::kUnavailable,
                 "without hvdrun there is no next world");
  }

  Status Log(std::string_view text) override {
    const std::string line = std::string(text) + '\n';
    const std::size_t written =
        std::fwrite(line.data(), 1, line.size(), stdout);
    if (written != line.size() || std::fflush(stdout) != 0) {
      return Error::FromErrno("write to stdout", errno);
    }
    return Done{};
  }
  // Nobody wants it, but a program that works here works under hvdrun.
  Status SetResult(std::string_view bytes) override {
    if (bytes.size() <= RendezvousClient::kMaxResultBytes) return Done{};
    return Error(
        ErrorCode::kInvalidArgument,
        "at most 64 MiB, got " + std::to_string(bytes.size()) + " bytes");
  }

 private:
  Identity identity_;
  SoloCommunicator communicator_;
  CommQueue queue_{communicator_};
};

}  // namespace

std::unique_ptr<Context> MakeSoloContext() {
  return std::make_unique<SoloContext>();
}

}  // namespace hvd
