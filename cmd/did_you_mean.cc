#include "cmd/did_you_mean.h"

#include <algorithm>

namespace hvd {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // rows[2] is the row of a's current letter, [1] and [0] those before it.
  std::vector<std::size_t> rows[3];
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[2][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::rotate(std::begin(rows), std::begin(rows) + 1, std::end(rows));
    rows[2][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced =
          rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[2][j] = std::min({rows[1][j] + 1, rows[2][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[2][j] = std::min(rows[2][j], rows[0][j - 2] + 1);
      }
    }
  }
  return rows[2][b.size()];
}

std::optional<std::string_view> DidYouMean(
    std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kMaxLength = 100;  // nobody mistypes more than that
  if (word.size() > kMaxLength) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 4) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = EditDistance(word, candidate);
    // A word is not a slip of one that shares hardly a letter with it.
    if (distance < best_distance && 2 * distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace hvd
