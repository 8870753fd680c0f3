#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/digits/dataset.h"
#include "tests/support/temporary_directory.h"

namespace digits {
namespace {

using hvd::testing::TemporaryDirectory;

std::array<int, kClasses> CountLabels(const std::vector<Image>& images) {
  std::array<int, kClasses> counts{};
  for (const Image& image : images) {
    ++counts.at(static_cast<std::size_t>(image.label));
  }
  return counts;
}

std::vector<Image> AllImages() { return ReadImages(DIGITS_DATA); }

// A line of 64 zeros and this label.
std::string Line(const std::string& label) {
  std::string line;
  for (int i = 0; i < kPixels; ++i) line += "0,";
  return line + label;
}

}  // namespace

TEST_CASE("ReadImages reads all 1797 digits with pixels from 0 to 1",
          "[examples]") {
  const auto images = AllImages();
  REQUIRE(images.size() == 1797);
  CHECK(images[0].label == 0);
  CHECK(images[0].pixels[2] == 5.0 / 16);
  double darkest = 1;
  double brightest = 0;
  for (const Image& image : images) {
    const auto [low, high] =
        std::minmax_element(image.pixels.begin(), image.pixels.end());
    darkest = std::min(darkest, *low);
    brightest = std::max(brightest, *high);
  }
  CHECK(darkest == 0);
  CHECK(brightest == 1);
}

TEST_CASE("ReadImages names the file and the line that is no image",
          "[examples]") {
  const TemporaryDirectory directory;
  const std::string bad =
      GENERATE(std::string("1,2,3"), Line("10"), Line("-1"), Line(""),
               Line("1,2"), Line("x"), "17" + Line("1").substr(1),
               std::string(200, '9'), std::string());
  CAPTURE(bad);
  const std::string path =
      directory.Write("digits.csv", Line("3") + "\n" + bad + "\n");
  CHECK_THROWS_WITH(ReadImages(path),
                    path + ":2: not 64 values of 0 to 16 and a label");
}

TEST_CASE("ReadImages names a file that is not there", "[examples]") {
  CHECK_THROWS_WITH(ReadImages("/nowhere/digits.csv"),
                    "data file /nowhere/digits.csv can't be opened");
}

TEST_CASE("Split keeps a share of each class for the test", "[examples]") {
  const auto images = AllImages();
  const Dataset dataset = Split(images, 360, 1);
  CHECK(dataset.train.size() == 1437);
  REQUIRE(dataset.test.size() == 360);
  const auto all = CountLabels(images);
  const auto test = CountLabels(dataset.test);
  for (std::size_t c = 0; c < kClasses; ++c) {
    CAPTURE(c);
    CHECK(std::abs(test[c] - all[c] * 360.0 / 1797) < 1);
  }
}

TEST_CASE("Split never gives an image to both halves", "[examples]") {
  // Each image is told from the others by a pixel of its own value.
  std::vector<Image> images(1000);
  for (std::size_t i = 0; i < images.size(); ++i) {
    images[i].label = static_cast<int>(i % kClasses);
    images[i].pixels[0] = static_cast<double>(i);
  }
  const Dataset dataset = Split(images, 333, 7);
  std::set<double> seen;
  for (const Image& image : dataset.train) seen.insert(image.pixels[0]);
  for (const Image& image : dataset.test) seen.insert(image.pixels[0]);
  CHECK(dataset.test.size() == 333);
  CHECK(dataset.train.size() + dataset.test.size() == images.size());
  CHECK(seen.size() == images.size());
}

TEST_CASE("Split depends on its seed alone", "[examples]") {
  const auto images = AllImages();
  const auto pixels = [](const std::vector<Image>& half) {
    std::vector<std::array<double, kPixels>> all;
    for (const Image& image : half) all.push_back(image.pixels);
    return all;
  };
  const auto first = pixels(Split(images, 360, 5).test);
  CHECK(first == pixels(Split(images, 360, 5).test));
  CHECK(first != pixels(Split(images, 360, 6).test));
}

TEST_CASE("Split refuses to keep more images than there are", "[examples]") {
  CHECK_THROWS_AS(Split(std::vector<Image>(360), 360, 1), std::runtime_error);
}

TEST_CASE("ShuffleLabels moves labels and invents none", "[examples]") {
  const auto before = AllImages();
  auto after = before;
  ShuffleLabels(after, 1);
  CHECK(CountLabels(after) == CountLabels(before));
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (after[i].label != before[i].label) ++moved;
    if (after[i].pixels != before[i].pixels) FAIL("image " << i << " moved");
  }
  // Nine of ten get another label by chance.
  CHECK(moved > 1500);
}

}  // namespace digits
