// Dataset: the UCI optical digits, and which of them are never trained on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace digits {

inline constexpr int kPixels = 64;  // 8x8
inline constexpr int kClasses = 10;

struct Image {
  std::array<double, kPixels> pixels{};  // 0..1
  int label = 0;                         // 0..9
};

struct Dataset {
  std::vector<Image> train;
  std::vector<Image> test;
};

// One image a line: 64 values 0..16 and the label. Throws std::runtime_error
// that names the file and the line.
std::vector<Image> ReadImages(const std::string& path);

// Puts `test_size` images aside, each class in proportion to its share, chosen
// by `seed`. Both halves keep the order of the file.
Dataset Split(const std::vector<Image>& images, std::size_t test_size,
              std::uint64_t seed);

// Deals the labels out anew, so that nothing is left to learn.
void ShuffleLabels(std::vector<Image>& images, std::uint64_t seed);

}  // namespace digits
