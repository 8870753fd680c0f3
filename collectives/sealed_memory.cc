#include "collectives/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace hvd {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Result<UniqueFd> CreateSealed(const char* name, std::size_t bytes) {
  UniqueFd memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return Error::FromErrno("memfd_create", errno);
  if (::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) {
    return Error::FromErrno("size and seal shared memory", errno);
  }
  return memory;
}

Result<std::size_t> SealedSize(const UniqueFd& memory) {
  struct stat info {};
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (::fstat(memory.get(), &info) != 0 || seals < 0 ||
      (seals & kSeals) != kSeals) {
    return Error(ErrorCode::kInvalidArgument,
                 "shared memory: not a sealed memfd");
  }
  return static_cast<std::size_t>(info.st_size);
}

Result<SealedMemory> SealedMemory::Map(const UniqueFd& memory,
                                       std::size_t bytes) {
  Result<std::size_t> size = SealedSize(memory);
  if (!size.ok()) return std::move(size).error();
  if (size.value() != bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "shared memory: not of the agreed size");
  }
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE, memory.get(), 0);
  if (address == MAP_FAILED) {
    return Error::FromErrno("map shared memory", errno);
  }
  return SealedMemory(address, bytes);
}

SealedMemory::~SealedMemory() {
  if (address_ != nullptr) ::munmap(address_, bytes_);
}

bool SealedMemory::Contains(const void* at, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(address_);
  const auto from = reinterpret_cast<std::uintptr_t>(at);
  return address_ != nullptr && from >= begin && bytes <= bytes_ &&
         from - begin <= bytes_ - bytes;
}

}  // namespace hvd
