// RendezvousClient: a worker's side of /v1, signed with the job's key.
//
// Blocking calls with deadlines, one HTTP connection that is kept open. Nothing
// here throws. A client may be used by one thread at a time; Cancel() may be
// called from any thread and makes the call in progress (and all later ones)
// return kCancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "rendezvous/membership.h"
#include "rendezvous/notice_board.h"

namespace hvd {

struct RendezvousAddress {
  std::string address;
  std::uint16_t port = 0;
};

class RendezvousClient {
 public:
  RendezvousClient(RendezvousAddress server, std::string job_key,
                   const WorkerId& worker, LaunchId launch = {});
  ~RendezvousClient();
  RendezvousClient(const RendezvousClient&) = delete;
  RendezvousClient& operator=(const RendezvousClient&) = delete;

  // Makes this worker reachable at that address instead of the one announced
  // before; its endpoint from now on. Called by the two below when hvdrun wants
  // this host's rings elsewhere; an error of it is theirs. Without it, to be
  // told so is an error.
  using MoveRing = std::function<Result<Endpoint>(const std::string& address)>;
  void OnMove(MoveRing move);

  // Announces this worker, reachable at `mine`, and waits until a world newer
  // than `after` is published and all its members have announced themselves:
  // one request however many members. kNotFound: this worker is not wanted any
  // more. kTimeout, kUnavailable (cannot reach hvdrun), kCancelled.
  Result<Membership> WaitWorld(Epoch after, const Endpoint& mine,
                               Instant deadline);

  // The same without a deadline, for as long as hvdrun answers: how long a
  // world may take is its business. kUnavailable: it has not answered at all
  // for `silence`.
  Result<Membership> WaitWorldWhileAnswered(Epoch after, const Endpoint& mine,
                                            Duration silence);

  // Waits until something worse than `heard` happened to world `epoch`, and
  // says what: one line, e.g. "rank 2 was killed by SIGKILL". kTimeout after
  // kLongPoll at the latest: ask again, with what has changed meanwhile.
  Result<WorldNotice> WaitNotice(const NoticeBoard::Question& question,
                                 Instant deadline);

  // Says that this rank has left world `epoch` or died, so that hvdrun doesn't
  // take the failures that follow from it for the cause.
  Status Blame(Epoch epoch, int rank, Instant deadline);

  // A line for hvdrun's terminal. At most kMaxLogBytes are kept, with a mark.
  Status Log(std::string_view text, Instant deadline);
  // The job's result, written by hvdrun if the job succeeds. Only rank 0's
  // counts. kInvalidArgument over kMaxResultBytes.
  Status SetResult(std::string_view bytes, Instant deadline);

  void Cancel();

  static constexpr std::size_t kMaxLogBytes = 4000;  // HorovodRunner's limit
  static constexpr std::size_t kMaxResultBytes = std::size_t{64} << 20U;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hvd
