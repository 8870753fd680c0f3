#include "examples/digits/model.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace digits {
namespace {

// Where each part of the parameters begins; weights are [unit][input].
constexpr std::size_t kHiddenBias = Model::kHidden * kPixels;
constexpr std::size_t kOutputWeights = kHiddenBias + Model::kHidden;
constexpr std::size_t kOutputBias = kOutputWeights + kClasses * Model::kHidden;

double Dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// to += scale * from
void AddScaled(double* to, double scale, const double* from,
               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += scale * from[i];
}

void FillUniform(std::span<double> weights, std::size_t inputs,
                 Random& random) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
  for (double& weight : weights) weight = bound * (2 * random.Uniform() - 1);
}

}  // namespace

struct Model::Activations {
  std::array<double, kHidden> hidden{};
  std::array<double, kClasses> scores{};  // before the softmax
};

void Model::Initialise(Random& random) {
  const std::span<double> all = parameters_;
  std::fill(all.begin(), all.end(), 0.0);
  FillUniform(all.first(kHiddenBias), kPixels, random);
  FillUniform(all.subspan(kOutputWeights, kClasses * kHidden), kHidden, random);
}

Model::Activations Model::Forward(const Image& image) const {
  const double* p = parameters_.data();
  Activations a;
  for (std::size_t h = 0; h < kHidden; ++h) {
    const double sum = Dot(p + h * kPixels, image.pixels.data(), kPixels);
    a.hidden[h] = std::max(0.0, sum + p[kHiddenBias + h]);
  }
  for (std::size_t c = 0; c < kClasses; ++c) {
    a.scores[c] = p[kOutputBias + c] + Dot(p + kOutputWeights + c * kHidden,
                                           a.hidden.data(), kHidden);
  }
  return a;
}

double Model::AddGradient(const Image& image,
                          std::span<double> gradient) const {
  const Activations a = Forward(image);
  const auto label = static_cast<std::size_t>(image.label);
  // Shifted by the highest score, which changes nothing but the range of exp.
  const double top = *std::max_element(a.scores.begin(), a.scores.end());
  double total = 0;
  for (const double score : a.scores) total += std::exp(score - top);

  double* g = gradient.data();
  std::array<double, kHidden> hidden_error{};
  for (std::size_t c = 0; c < kClasses; ++c) {
    const double probability = std::exp(a.scores[c] - top) / total;
    const double error = probability - (c == label ? 1.0 : 0.0);
    const std::size_t row = kOutputWeights + c * kHidden;
    AddScaled(g + row, error, a.hidden.data(), kHidden);
    AddScaled(hidden_error.data(), error, parameters_.data() + row, kHidden);
    g[kOutputBias + c] += error;
  }
  for (std::size_t h = 0; h < kHidden; ++h) {
    if (a.hidden[h] <= 0) continue;
    AddScaled(g + h * kPixels, hidden_error[h], image.pixels.data(), kPixels);
    g[kHiddenBias + h] += hidden_error[h];
  }
  return std::log(total) + top - a.scores[label];
}

int Model::Classify(const Image& image) const {
  const Activations a = Forward(image);
  const auto best = std::max_element(a.scores.begin(), a.scores.end());
  return static_cast<int>(best - a.scores.begin());
}

}  // namespace digits
