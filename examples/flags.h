// Flags: the "--name value" and "--name=value" words of an example's command
// line. Just enough for the examples; throws std::invalid_argument with a
// sentence for the user.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace examples {

class Flags {
 public:
  // Every word must belong to a flag in `with_value` or be one of `switches`.
  Flags(int argc, char** argv, const std::vector<std::string>& with_value,
        const std::vector<std::string>& switches);

  bool Has(const std::string& name) const { return values_.contains(name); }
  std::string Text(const std::string& name, const std::string& fallback) const;
  // Whole and not negative, at most `highest`.
  std::int64_t Count(const std::string& name, std::int64_t fallback,
                     std::int64_t highest) const;
  // Not negative, finite.
  double Number(const std::string& name, double fallback) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace examples
