#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "examples/digits/model.h"

namespace digits {
namespace {

Image SomeImage(Random& random, int label) {
  Image image;
  for (double& pixel : image.pixels) pixel = random.Uniform();
  image.label = label;
  return image;
}

double Loss(const Model& model, const Image& image) {
  std::vector<double> unused(Model::kParameters);
  return model.AddGradient(image, unused);
}

}  // namespace

TEST_CASE("an untrained model of zeros finds all ten digits equally likely",
          "[examples]") {
  Random random(1);
  const Model model;
  CHECK(Loss(model, SomeImage(random, 3)) == Approx(std::log(10.0)));
}

TEST_CASE("the gradient is the slope of the loss in each parameter",
          "[examples]") {
  Random random(2);
  Model model;
  model.Initialise(random);
  const Image image = SomeImage(random, 7);
  std::vector<double> gradient(Model::kParameters);
  model.AddGradient(image, gradient);

  constexpr double kStep = 1e-6;
  // Every 13th: reaches each kind of parameter, and each hidden unit.
  for (std::size_t i = 0; i < Model::kParameters; i += 13) {
    const double value = model.parameters()[i];
    model.parameters()[i] = value + kStep;
    const double above = Loss(model, image);
    model.parameters()[i] = value - kStep;
    const double below = Loss(model, image);
    model.parameters()[i] = value;
    CAPTURE(i);
    CHECK(gradient[i] ==
          Approx((above - below) / (2 * kStep)).margin(1e-7).epsilon(1e-5));
  }
}

TEST_CASE("gradients of two images add up", "[examples]") {
  Random random(3);
  Model model;
  model.Initialise(random);
  const Image first = SomeImage(random, 1);
  const Image second = SomeImage(random, 2);
  std::vector<double> both(Model::kParameters);
  std::vector<double> one(Model::kParameters);
  std::vector<double> other(Model::kParameters);
  model.AddGradient(first, both);
  model.AddGradient(second, both);
  model.AddGradient(first, one);
  model.AddGradient(second, other);
  double worst = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    worst = std::max(worst, std::abs(both[i] - one[i] - other[i]));
  }
  CHECK(worst < 1e-12);
}

TEST_CASE("the class with the highest score is the model's answer",
          "[examples]") {
  Random random(4);
  Model model;
  const Image image = SomeImage(random, 0);
  for (int label = 0; label < kClasses; ++label) {
    // The last ten parameters are the biases of the classes.
    model.parameters()[Model::kParameters - kClasses +
                       static_cast<std::size_t>(label)] = label + 1.0;
    CHECK(model.Classify(image) == label);
  }
}

}  // namespace digits
