#include "collectives/grouped_reduce.h"

#include "collectives/copy_bytes.h"

namespace hvd {
namespace {

// Longer than what makes the work of a call small against its bytes, and short
// enough to stay in the caches between packing and reducing.
constexpr std::size_t kBuffer = std::size_t{2} << 20U;
// An array of this much gains nothing by company.
constexpr std::size_t kAlone = std::size_t{512} << 10U;

}  // namespace

GroupedReduce::~GroupedReduce() {
  if (heap_ != nullptr && buffer_ != nullptr && spare_.empty()) {
    heap_->Free(buffer_);
  }
}

std::byte* GroupedReduce::Buffer() {
  if (buffer_ != nullptr) return buffer_;
  if (heap_ != nullptr) {
    buffer_ = static_cast<std::byte*>(heap_->Allocate(kBuffer));
  }
  if (buffer_ == nullptr) {
    spare_.resize(kBuffer);
    buffer_ = spare_.data();
  }
  return buffer_;
}

Status GroupedReduce::AllReduce(Communicator& communicator,
                                std::span<const Tensor> tensors, DataType type,
                                ReduceOp op) {
  const std::size_t element = SizeOf(type);
  std::size_t first = 0;  // of those packed so far
  std::size_t bytes = 0;
  const auto flush = [&](std::size_t end) {
    Status s = Done{};
    if (end > first) {
      s = Flush(communicator, tensors.subspan(first, end - first), type, op);
    }
    first = end;
    bytes = 0;
    return s;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.count > kAlone / element) {
      if (Status s = flush(i); !s.ok()) return s;
      Status s =
          communicator.AllReduce(tensor.in, tensor.out, tensor.count, type, op);
      if (!s.ok()) return s;
      first = i + 1;
      continue;
    }
    if (bytes + tensor.count * element > kBuffer) {
      if (Status s = flush(i); !s.ok()) return s;
    }
    bytes += tensor.count * element;
  }
  return flush(tensors.size());
}

Status GroupedReduce::Flush(Communicator& communicator,
                            std::span<const Tensor> tensors, DataType type,
                            ReduceOp op) {
  const std::size_t element = SizeOf(type);
  std::byte* const buffer = Buffer();
  std::size_t count = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.count == 0) continue;
    CopyBytes(buffer + count * element, tensor.in, tensor.count * element);
    count += tensor.count;
  }
  Status s = communicator.AllReduce(buffer, buffer, count, type, op);
  if (!s.ok()) return s;
  count = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.count == 0) continue;
    CopyBytes(tensor.out, buffer + count * element, tensor.count * element);
    count += tensor.count;
  }
  return s;
}

}  // namespace hvd
