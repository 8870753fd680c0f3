// LineSplitter: cuts a stream of bytes into pieces that end with "\n", "\r" or
// "\r\n".
//
// A progress bar ends its pieces with "\r" only, so that counts as an end too.
// Bytes are bytes: NUL and invalid UTF-8 pass. What has no end yet is held, up
// to a limit; beyond it, and when the owner asks, it goes out unfinished.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace hvd {

enum class PieceEnd {
  kFinished,    // its last byte is its end, or it is empty: the end of what was
                // given out unfinished
  kUnfinished,  // more of the same line follows
};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_held) : max_held_(max_held) {}

  // Calls emit(head, body, end) for each piece, in order: the piece is `head`
  // followed by `body`. The views are valid during the call only.
  template <class Emit>
  void Feed(std::string_view bytes, Emit&& emit) {
    if (bytes.empty()) return;
    if (shown_cr_) {
      shown_cr_ = false;
      if (bytes.front() != '\n') emit(Nothing(), Nothing(), kFinished);
    }
    // Looked for once a block, not once a line: most output has none.
    const char* const end = bytes.data() + bytes.size();
    const char* at = bytes.data();
    if (!held_.empty() && held_.back() == '\r' && *at != '\n') {
      EmitHeld(Nothing(), kFinished, emit);
    }
    const char* newline = Find(at, end, '\n');
    const char* carriage = Find(at, end, '\r');
    while (newline != end || carriage != end) {
      const char* stop = newline;
      if (carriage < newline) {
        // "\r" as the last byte may be half of "\r\n": held.
        if (carriage + 1 == end) break;
        stop = carriage[1] == '\n' ? carriage + 1 : carriage;
      }
      ++stop;
      EmitHeld({at, static_cast<std::size_t>(stop - at)}, kFinished, emit);
      at = stop;
      if (newline < at) newline = Find(at, end, '\n');
      if (carriage < at) carriage = Find(at, end, '\r');
    }
    Hold({at, static_cast<std::size_t>(end - at)}, emit);
  }

  // Gives out what is held, unfinished.
  template <class Emit>
  void Show(Emit&& emit) {
    if (held_.empty()) return;
    shown_cr_ = held_.back() == '\r';
    EmitHeld(Nothing(), kUnfinished, emit);
  }

  bool holds() const { return !held_.empty(); }

 private:
  static constexpr PieceEnd kFinished = PieceEnd::kFinished;
  static constexpr PieceEnd kUnfinished = PieceEnd::kUnfinished;

  static std::string_view Nothing() { return {}; }

  static const char* Find(const char* begin, const char* end, char c) {
    const void* found =
        begin == end
            ? nullptr
            : std::memchr(begin, c, static_cast<std::size_t>(end - begin));
    return found == nullptr ? end : static_cast<const char*>(found);
  }

  template <class Emit>
  void EmitHeld(std::string_view body, PieceEnd end, Emit&& emit) {
    emit(std::string_view(held_), body, end);
    held_.clear();
  }

  template <class Emit>
  void Hold(std::string_view rest, Emit&& emit) {
    if (held_.size() + rest.size() <= max_held_) {
      held_.append(rest);
      return;
    }
    // Too much to hold. A "\r" at its end still waits for its "\n".
    const bool carriage = rest.ends_with('\r');
    if (carriage) rest.remove_suffix(1);
    EmitHeld(rest, kUnfinished, emit);
    if (carriage) held_ = '\r';
  }

  std::size_t max_held_;
  std::string held_;
  bool shown_cr_ = false;
};

}  // namespace hvd
