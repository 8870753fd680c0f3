// TemporaryDirectory: a directory of a test's own, gone at the end of scope.
#pragma once

#include <string>
#include <string_view>

namespace hvd::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const;
  // Writes a file and returns its path.
  std::string Write(std::string_view name, std::string_view text,
                    unsigned mode = 0644) const;

 private:
  std::string path_;
};

// The whole file; empty when there is none.
std::string ReadFile(const std::string& path);

}  // namespace hvd::testing
