// KeeperProtocol: what hvdrun and its keeper say to each other, as bytes.
//
// A frame is a 32-bit length and a body; a body is a type byte and its fields.
// Both ends run on one machine, so integers are in its own byte order. Every
// size is checked before anything is allocated: a frame that is cut short, too
// long or has bytes left over is an Error, never a crash.
//
// Pure. Descriptors travel beside a frame: see keeper_channel.h.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"
#include "rendezvous/world.h"

namespace hvd {

struct FdLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  bool operator==(const FdLimit&) const = default;
};

// The first command; at most once.
struct KeeperConfigure {
  Duration grace{};  // for what an ended worker or a dead hvdrun leaves behind
  std::optional<FdLimit> nofile;  // RLIMIT_NOFILE for the workers
  bool operator==(const KeeperConfigure&) const = default;
};

// Three descriptors come with it: the worker's 0, 1 and 2.
struct KeeperLaunch {
  LaunchId id{};
  std::vector<std::string> argv;
  EnvList env;
  std::string cwd;
  bool operator==(const KeeperLaunch&) const = default;
};

// To every process of the worker's session.
struct KeeperSignal {
  LaunchId id{};
  int signo = 0;
  bool operator==(const KeeperSignal&) const = default;
};

// TERM, grace, KILL for everything below the keeper; KeeperAllStopped follows.
struct KeeperStopAll {
  Duration grace{};
  bool operator==(const KeeperStopAll&) const = default;
};

using KeeperCommand =
    std::variant<KeeperConfigure, KeeperLaunch, KeeperSignal, KeeperStopAll>;

struct KeeperStarted {
  LaunchId id{};
  pid_t pid = 0;
  bool operator==(const KeeperStarted&) const = default;
};

struct KeeperStartFailed {
  LaunchId id{};
  ErrorCode code{};
  std::string message;
  bool operator==(const KeeperStartFailed&) const = default;
};

struct KeeperExited {
  LaunchId id{};
  ExitStatus status;
  bool operator==(const KeeperExited&) const = default;
};

// One for each KeeperStopAll.
struct KeeperAllStopped {
  int left = 0;  // processes that not even SIGKILL ended (uninterruptible I/O)
  bool operator==(const KeeperAllStopped&) const = default;
};

using KeeperEvent = std::variant<KeeperStarted, KeeperStartFailed, KeeperExited,
                                 KeeperAllStopped>;

// An environment may have 6 MB (the kernel's limit for an exec); more than this
// is not a frame of ours.
inline constexpr std::size_t kMaxKeeperFrame = 16U << 20U;

// With the length in front. A command longer than kMaxKeeperFrame is
// kInvalidArgument.
Result<std::string> EncodeFrame(const KeeperCommand& command);
Result<std::string> EncodeFrame(const KeeperEvent& event);

// `body`: what FrameReader gave. kInvalidArgument says what is wrong with it.
Result<KeeperCommand> DecodeCommand(std::string_view body);
Result<KeeperEvent> DecodeEvent(std::string_view body);

// Cuts a stream of bytes into frame bodies.
class FrameReader {
 public:
  void Append(std::string_view bytes);
  // The next body, nothing if it is not complete yet, or kInvalidArgument if
  // its length can't be right; then the stream is useless. The view is valid
  // until the next call of either.
  Result<std::optional<std::string_view>> Next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace hvd
