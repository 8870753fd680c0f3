// SoloCommunicator: the world of one. Copies, and opens nothing.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "collectives/communicator.h"

namespace hvd {

class SoloCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::uint64_t entered() const override { return entered_.load(); }
  Status AllReduce(const void* in, void* out, std::size_t count, DataType type,
                   ReduceOp op) override;
  Status ReduceScatter(const void* in, void* out, std::size_t count,
                       DataType type, ReduceOp op) override;
  Status Broadcast(void* data, std::size_t count, DataType type,
                   int root) override;
  Status AllGather(const void* in, void* out, const Shares& shares,
                   DataType type) override;
  Status AllToAll(const void* in, const Shares& sent, void* out,
                  const Shares& received, DataType type) override;
  Status Barrier() override;
  void Abort(CommFailure failure) override;
  void Declare(CommFailure failure) override { Abort(std::move(failure)); }
  const CallLedger& ledger() const override { return ledger_; }
  const CommFailure* failure() const override { return failure_.load(); }

 private:
  Status Enter();
  // `bytes` from `in` to `out`, where they differ.
  Status Do(Call call, const void* in, void* out, std::size_t bytes);

  CallLedger ledger_;

  std::atomic<std::uint64_t> entered_{0};
  std::mutex mutex_;
  std::optional<CommFailure> first_;           // guarded by mutex_
  std::atomic<const CommFailure*> failure_{};  // null, or &*first_
};

}  // namespace hvd
