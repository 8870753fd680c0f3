#include <hvd/hvd.h>
#include <hvd/hvd_c.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "worker/c_call.h"

namespace {

using hvd::Guard;
using hvd::OpFrom;
using hvd::ThreadLastError;
using hvd::TypeFrom;

int CopyText(const std::string& text, char* buffer, size_t length) {
  if (length > 0) {
    const size_t n = std::min(text.size(), length - 1);
    std::memcpy(buffer, text.data(), n);
    buffer[n] = '\0';
  }
  return static_cast<int>(text.size());
}

}  // namespace

extern "C" {

int hvd_abi_version(void) { return HVD_ABI_VERSION; }

int hvd_init(void) {
  return Guard([] {
    hvd::Init();
    return 0;
  });
}

int hvd_shutdown(void) {
  return Guard([] {
    hvd::Shutdown();
    return 0;
  });
}

int hvd_is_initialized(void) { return hvd::IsInitialized() ? 1 : 0; }

int hvd_rank(void) { return Guard(hvd::Rank); }
int hvd_size(void) { return Guard(hvd::Size); }
int hvd_local_rank(void) { return Guard(hvd::LocalRank); }
int hvd_local_size(void) { return Guard(hvd::LocalSize); }
int hvd_cross_rank(void) { return Guard(hvd::CrossRank); }
int hvd_cross_size(void) { return Guard(hvd::CrossSize); }

int hvd_epoch(uint64_t* epoch) {
  return Guard([=] {
    if (epoch == nullptr) throw std::invalid_argument("epoch must not be NULL");
    *epoch = hvd::Epoch();
    return 0;
  });
}

int hvd_host(char* buffer, size_t length) {
  return Guard([=] { return CopyText(hvd::Host(), buffer, length); });
}

int hvd_allreduce(const void* in, void* out, size_t count, int type, int op) {
  return Guard([=] {
    hvd::AllReduce(in, out, count, TypeFrom(type), OpFrom(op));
    return 0;
  });
}

int hvd_broadcast(void* data, size_t count, int type, int root) {
  return Guard([=] {
    hvd::Broadcast(data, count, TypeFrom(type), root);
    return 0;
  });
}

int hvd_allgather(const void* in, void* out, size_t count, int type) {
  return Guard([=] {
    hvd::AllGather(in, out, count, TypeFrom(type));
    return 0;
  });
}

int hvd_barrier(void) {
  return Guard([] {
    hvd::Barrier();
    return 0;
  });
}

int hvd_log_to_driver(const char* text) {
  return Guard([=] {
    if (text == nullptr) throw std::invalid_argument("text must not be NULL");
    hvd::LogToDriver(text);
    return 0;
  });
}

int hvd_set_result(const void* bytes, size_t length) {
  return Guard([=] {
    hvd::SetResult({static_cast<const char*>(bytes), length});
    return 0;
  });
}

int hvd_last_error(char* buffer, size_t length) {
  return CopyText(ThreadLastError().text, buffer, length);
}

int hvd_failed_rank(void) { return ThreadLastError().rank; }

}  // extern "C"
