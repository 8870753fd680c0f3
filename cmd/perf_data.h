// PerfData: random data for a check, and what must come of it.
//
// Pure. Every rank can make every other's: the results are computed anew, in
// double, and compared with what the collective gave.
#pragma once

#include <hvd/data_type.h>

#include <cstddef>
#include <string>

namespace hvd {

DataType PerfType(const std::string& name);
ReduceOp PerfReduction(const std::string& name);
std::size_t PerfElementSize(const std::string& type);

class PerfData {
 public:
  PerfData(const std::string& type, const std::string& reduction,
           unsigned long seed)
      : type_(type), reduction_(reduction), seed_(seed) {}

  void Fill(std::byte* out, int rank, std::size_t count) const;
  // How many of `count` elements at `data` are not what reducing the elements
  // from `begin` on over all ranks gives.
  std::size_t WrongReduced(const std::byte* data, std::size_t begin,
                           std::size_t count, int ranks) const;
  // How many are not the elements from `begin` on of rank `from`.
  std::size_t WrongCopied(const std::byte* data, int from, std::size_t begin,
                          std::size_t count) const;

 private:
  std::string type_;
  std::string reduction_;
  unsigned long seed_;
};

}  // namespace hvd
