#include "worker/state_memory.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace hvd {
namespace {

constexpr std::size_t kWord = sizeof(StateMemory::Block::value_type);

std::size_t WordsFor(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }

}  // namespace

void StateMemory::Save() {
  std::vector<std::string_view> views;
  std::size_t words = 1 + pieces_.size();
  for (const Piece& piece : pieces_) {
    views.push_back(piece.view());
    words += WordsFor(views.back().size());
  }
  saved_.resize(words);
  saved_[0] = static_cast<std::int64_t>(pieces_.size());
  std::size_t at = 1 + pieces_.size();
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::size_t bytes = views[i].size();
    saved_[1 + i] = static_cast<std::int64_t>(bytes);
    if (bytes == 0) continue;
    saved_[at + WordsFor(bytes) - 1] = 0;  // what fills the last word
    std::memcpy(&saved_[at], views[i].data(), bytes);
    at += WordsFor(bytes);
  }
}

void StateMemory::Restore() const {
  if (saved_.empty()) return;
  if (saved_[0] != static_cast<std::int64_t>(pieces_.size())) {
    throw std::invalid_argument(
        "hvd: elastic state: this rank has registered " +
        std::to_string(pieces_.size()) + " things, the oldest rank " +
        std::to_string(saved_[0]));
  }
  std::size_t at = 1 + pieces_.size();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(saved_[1 + i]);
    const auto* data = reinterpret_cast<const char*>(saved_.data() + at);
    pieces_[i].load(std::string_view(data, bytes));
    at += WordsFor(bytes);
  }
}

void StateMemory::Adopt(Block block) {
  saved_ = std::move(block);
  Restore();
}

}  // namespace hvd
