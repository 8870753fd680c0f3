#include "examples/digits/dataset.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "examples/digits/random.h"

namespace digits {
namespace {

constexpr int kBrightest = 16;

// The number at the start of `line`, which loses it and the comma after it; -1
// for anything but a whole number up to `highest`.
int TakeNumber(std::string_view& line, int highest) {
  const std::string_view word = line.substr(0, line.find(','));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  if (word.empty() || word.size() > 2) return -1;
  int value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value <= highest ? value : -1;
}

// False if the line is not an image.
bool ParseImage(std::string_view line, Image& image) {
  for (double& pixel : image.pixels) {
    const int value = TakeNumber(line, kBrightest);
    if (value < 0) return false;
    pixel = static_cast<double>(value) / kBrightest;
  }
  image.label = TakeNumber(line, kClasses - 1);
  return image.label >= 0 && line.empty();
}

// How many test images each class gives: its share of `test_size`, rounded
// down; what is missing then goes to the largest remainders.
std::vector<std::size_t> TestShares(const std::vector<std::size_t>& class_sizes,
                                    std::size_t total, std::size_t test_size) {
  std::vector<std::size_t> shares;
  std::vector<std::pair<std::size_t, std::size_t>> remainders;  // (rest, class)
  std::size_t given = 0;
  for (const std::size_t size : class_sizes) {
    remainders.emplace_back(size * test_size % total, shares.size());
    shares.push_back(size * test_size / total);
    given += shares.back();
  }
  std::stable_sort(
      remainders.begin(), remainders.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; given < test_size; ++i, ++given) {
    ++shares[remainders[i].second];
  }
  return shares;
}

}  // namespace

std::vector<Image> ReadImages(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("data file " + path + " can't be opened");
  std::vector<Image> images;
  for (std::string line; std::getline(file, line);) {
    if (!ParseImage(line, images.emplace_back())) {
      throw std::runtime_error(path + ":" + std::to_string(images.size()) +
                               ": not 64 values of 0 to 16 and a label");
    }
  }
  return images;
}

Dataset Split(const std::vector<Image>& images, std::size_t test_size,
              std::uint64_t seed) {
  if (test_size >= images.size()) {
    throw std::runtime_error(std::to_string(images.size()) +
                             " images are too few to keep " +
                             std::to_string(test_size) + " for the test");
  }
  std::vector<std::vector<std::size_t>> by_class(kClasses);
  for (std::size_t i = 0; i < images.size(); ++i) {
    by_class[static_cast<std::size_t>(images[i].label)].push_back(i);
  }
  std::vector<std::size_t> class_sizes;
  for (const auto& members : by_class) class_sizes.push_back(members.size());
  const auto shares = TestShares(class_sizes, images.size(), test_size);

  Random random(seed);
  std::vector<bool> is_test(images.size());
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    random.Shuffle(by_class[c]);
    for (std::size_t i = 0; i < shares[c]; ++i) is_test[by_class[c][i]] = true;
  }
  Dataset dataset;
  for (std::size_t i = 0; i < images.size(); ++i) {
    (is_test[i] ? dataset.test : dataset.train).push_back(images[i]);
  }
  return dataset;
}

void ShuffleLabels(std::vector<Image>& images, std::uint64_t seed) {
  std::vector<int> labels;
  for (const Image& image : images) labels.push_back(image.label);
  Random(seed).Shuffle(labels);
  for (std::size_t i = 0; i < images.size(); ++i) images[i].label = labels[i];
}

}  // namespace digits
