// What every function of the C interface does: it runs C++, keeps what that
// throws from crossing into C, and remembers why it failed.
#pragma once

#include <hvd/elastic.h>
#include <hvd/hvd.h>
#include <hvd/hvd_c.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace hvd {

struct LastError {
  std::string text;
  int rank = -1;
};

// One a thread, so that no caller reads another's.
LastError& ThreadLastError();

inline int Fail(int code, const char* text, int rank = -1) {
  LastError& last = ThreadLastError();
  last.text = text;
  last.rank = rank;
  return code;
}

// Runs `fn` and turns what it throws into a code.
template <class Fn>
int Guard(const Fn& fn) noexcept {
  try {
    return fn();
  } catch (const CommError& error) {
    return Fail(HVD_ERR_COMM, error.what(), error.rank());
  } catch (const HostsUpdated& error) {
    return Fail(HVD_ERR_HOSTS_UPDATED, error.what());
  } catch (const std::logic_error& error) {
    return Fail(HVD_ERR_INVALID, error.what());
  } catch (const std::runtime_error& error) {
    return Fail(HVD_ERR_RUNTIME, error.what());
  } catch (const std::exception& error) {
    return Fail(HVD_ERR_INTERNAL, error.what());
  }
}

// Throw std::invalid_argument.
DataType TypeFrom(int type);
ReduceOp OpFrom(int op);

}  // namespace hvd
