// StateMemory: what a program registered as its state, and a copy of it as one
// block of bytes that can be sent.
//
// It knows neither ranks nor samplers. The block is of use to a process that
// has registered the same things in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hvd {

class StateMemory {
 public:
  // A multiple of 8 bytes, so that it can be sent as words.
  using Block = std::vector<std::int64_t>;

  // One registered thing: its bytes as they are now, valid until it or another
  // one changes, and how to set them. Both may throw.
  struct Piece {
    std::function<std::string_view()> view;
    std::function<void(std::string_view)> load;
  };
  void Add(Piece piece) { pieces_.push_back(std::move(piece)); }

  // Copies the state into the block. What a piece throws leaves the block as it
  // was.
  void Save();
  // The other way; nothing if nothing was saved. Throws std::invalid_argument.
  void Restore() const;

  Block& saved() { return saved_; }
  // What another process saved is this one's copy and state from now on. Throws
  // std::invalid_argument: that process has registered other things.
  void Adopt(Block block);

 private:
  std::vector<Piece> pieces_;
  Block saved_;  // how many pieces, their sizes in bytes, their bytes
};

}  // namespace hvd
