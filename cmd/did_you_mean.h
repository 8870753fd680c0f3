// DidYouMean: the known word that a mistyped one most resembles.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace hvd {

// Letters to insert, delete, replace or swap with their neighbour.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of `known`, the first of equals; nullopt if none is so near that
// a slip of the fingers explains it.
std::optional<std::string_view> DidYouMean(
    std::string_view word, const std::vector<std::string_view>& known);

}  // namespace hvd
