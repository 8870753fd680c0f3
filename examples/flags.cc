#include "examples/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace examples {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class T>
T Parse(const std::string& name, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument(name + " takes a number, got \"" + text + "\"");
  }
  return value;
}

}  // namespace

Flags::Flags(int argc, char** argv, const std::vector<std::string>& with_value,
             const std::vector<std::string>& switches) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::size_t equals = word->find('=');
    const std::string name = word->substr(0, equals);
    if (Contains(switches, *word)) {
      values_[name] = "";
    } else if (!Contains(with_value, name)) {
      throw std::invalid_argument("unknown flag " + *word);
    } else if (equals != std::string::npos) {
      values_[name] = word->substr(equals + 1);
    } else if (++word != words.end()) {
      values_[name] = *word;
    } else {
      throw std::invalid_argument(name + " needs a value");
    }
  }
}

std::string Flags::Text(const std::string& name,
                        const std::string& fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : found->second;
}

std::int64_t Flags::Count(const std::string& name, std::int64_t fallback,
                          std::int64_t highest) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const auto value = Parse<std::int64_t>(name, found->second);
  if (value < 0 || value > highest) {
    throw std::invalid_argument(name + " must be 0 to " +
                                std::to_string(highest) + ", got " +
                                found->second);
  }
  return value;
}

double Flags::Number(const std::string& name, double fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const auto value = Parse<double>(name, found->second);
  if (!std::isfinite(value) || value < 0) {
    throw std::invalid_argument(name + " must not be negative, got " +
                                found->second);
  }
  return value;
}

}  // namespace examples
