// ByteSource: reads many streams and sends what they hold, piece by piece, to
// somebody who takes only so much at a time.
//
// An agent reads its workers' pipes with one, hvdrun a remote worker's stdin.
// While kWindow pieces are on their way nothing is read, so a writer waits in
// its own write and memory stays bounded.
//
// Loop thread only. `send` may be called from inside Add, OnSent and Drain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "launcher/worker_bytes.h"

namespace hvd {

class ByteSource {
 public:
  // As much as a pipe holds: see output_pipe.cc.
  static constexpr std::size_t kPiece = 256U << 10U;
  static constexpr std::size_t kWindow = 8;

  ByteSource(EventLoop& loop, std::function<void(WorkerBytes)> send);

  // A pipe, socket or terminal, or a file. Its flags stay as they are, and it
  // is closed after its end.
  void Add(WorkerStream stream, UniqueFd fd);
  // The oldest piece on its way has arrived.
  void OnSent();
  // Once a stream: reads what its pipe holds now, all of it, whatever the
  // window; it goes out when there is room. How many bytes the stream has had
  // so far.
  std::uint64_t Drain(WorkerStream stream);
  void Remove(WorkerStream stream) { streams_.erase(stream); }

 private:
  struct Stream {
    UniqueFd fd;
    bool is_file = false;  // or as good as one: reading never waits
    std::unique_ptr<FdWatch> watch;
    std::uint64_t total = 0;
    bool drained = false;
    bool ended = false;  // and kept for its total, until it is drained
  };

  void OnReadable(WorkerStream stream);
  // False when there is no more to read now.
  bool Read(WorkerStream stream, std::size_t most);
  void End(WorkerStream stream);
  void Send(WorkerBytes piece);
  void UpdateWatches();
  void ReadFiles();
  bool HasRoom() const { return on_their_way_ < kWindow; }

  EventLoop& loop_;
  std::function<void(WorkerBytes)> send_;
  std::map<WorkerStream, Stream> streams_;
  std::size_t on_their_way_ = 0;
  std::deque<WorkerBytes> waiting_;  // for room
  std::string buffer_;
};

}  // namespace hvd
