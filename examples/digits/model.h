// Model: a multi-layer perceptron, 64 pixels -> 64 hidden (ReLU) -> 10 classes
// (softmax, cross-entropy).
//
// All parameters stand in one array, so that one collective moves all of them.
// Double precision: sums over ranks come in another order than sums over
// samples, and the loss curves must agree all the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "examples/digits/dataset.h"
#include "examples/digits/random.h"

namespace digits {

class Model {
 public:
  static constexpr std::size_t kHidden = 64;
  static constexpr std::size_t kParameters =
      kHidden * kPixels + kHidden + kClasses * kHidden + kClasses;

  Model() : parameters_(kParameters) {}  // all zero

  // Uniform weights within +-sqrt(6 / inputs), biases zero (He et al., 2015).
  void Initialise(Random& random);

  // Adds the gradient of this image's loss to `gradient` (kParameters long) and
  // returns the loss.
  double AddGradient(const Image& image, std::span<double> gradient) const;

  int Classify(const Image& image) const;

  std::span<double> parameters() { return parameters_; }

 private:
  struct Activations;
  Activations Forward(const Image& image) const;

  std::vector<double> parameters_;
};

}  // namespace digits
