// RingVerdict: how the ranks of a world come to report one and the same
// failure.
//
// Pure: no socket, thread or clock. Feed it what happened here and what the
// neighbours say; send what it gives out, in order; then look at verdict().
//
// What is certain and reads the same wherever it is seen (a neighbour's death)
// is a verdict at once, and floods both ways, so that it passes the gap. What
// two ranks may see differently at once (a mismatch, an Abort) is proposed
// first: proposals travel to the right, and of two the one of the lower rank
// goes on (Chang and Roberts, 1979); the one that comes home becomes the
// verdict. If none does in time, because the ring is broken or a rank stands
// still, the best one seen becomes it.
//
// A rank that waits in vain knows that some rank is silent, not which: its own
// neighbour may wait as well. It asks all; the one that does not answer is
// stopped, and if all answer, the one that has entered the fewest operations
// holds up the others. Of two inquiries that of the lower rank goes on.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "collectives/communicator.h"
#include "collectives/ring_record.h"

namespace hvd {

enum class Side { kLeft, kRight };

// However a death is seen, all say the same of it.
CommFailure DeathOf(int rank);

class RingVerdict {
 public:
  // How long a proposal may take to come home. A hop takes well under 1 ms.
  static constexpr Duration kElection{50};
  // How long an answer to an inquiry may take.
  static constexpr Duration kInquiry{50};

  struct Outgoing {
    Side to;
    RingRecord record;
  };

  RingVerdict(int rank, int size) : rank_(rank), size_(size) {}

  // Seen here: to be agreed upon, or certain.
  void Propose(CommFailure failure, Instant now);
  void Declare(CommFailure failure);
  // This rank has waited in vain for rank `suspect`. `missed` follows "rank N
  // has not entered ": the operation and the limit.
  void Inquire(int suspect, std::string missed, Instant now);
  // How many operations this rank has entered. To be kept up to date before
  // records are fed.
  void SetEntered(std::uint64_t operations) { entered_ = operations; }
  // This rank leaves in order, having finished `operations` of them.
  void Leave(std::uint64_t operations);

  void OnRecord(Side from, RingRecord record, Instant now);
  // The neighbour's process is gone, or its connection; every record that it
  // sent has been fed before.
  void OnGone(Side side);
  void OnTime(Instant now);
  std::optional<Instant> NextDeadline() const;

  std::vector<Outgoing> TakeOutgoing() { return std::exchange(outgoing_, {}); }

  // Set once and for all.
  const std::optional<CommFailure>& verdict() const { return verdict_; }
  // A proposal is under way, so a verdict will come.
  bool pending() const { return best_.has_value(); }
  // An inquiry is under way: waiting in vain need not be reported again.
  bool inquiring() const { return inquiry_.has_value(); }
  // Of the ranks that left: the one that did so earliest, with its count of
  // finished operations.
  std::optional<std::pair<int, std::uint64_t>> first_departure() const;

 private:
  void OnProposal(RingRecord record, Instant now);
  void OnGoodbye(Side from, const RingRecord& record);
  void OnInquiry(Side from, const RingRecord& record, Instant now);
  void OnPresent(Side from, const RingRecord& record);
  void SendBoth(const RingRecord& record);
  void Conclude();
  int Neighbour(Side side) const;
  void Send(Side to, const RingRecord& record);

  int rank_;
  int size_;
  std::optional<CommFailure> verdict_;
  std::optional<RingRecord> best_;  // of the proposals seen, own included
  bool proposed_ = false;           // by this rank
  Instant election_ends_{};         // while best_ is set
  struct Inquiry {
    int origin = 0;
    Instant ends{};
    int suspect = 0;                       // if this rank is the origin
    std::string missed;                    // likewise
    std::map<int, std::uint64_t> present;  // rank to operations entered
  };
  std::optional<Inquiry> inquiry_;
  std::uint64_t entered_ = 0;
  std::map<int, std::uint64_t> departed_;  // rank to operations
  std::vector<Outgoing> outgoing_;
};

}  // namespace hvd
