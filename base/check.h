// HVD_CHECK: stops the program on a bug of its own. Kept in release builds.
//
// Never for input, the network or what a child does: those are Results.
#pragma once

#include <cstdio>
#include <cstdlib>

#define HVD_CHECK(cond)                                                     \
  do {                                                                      \
    if (!(cond)) {                                                          \
      std::fprintf(stderr, "%s:%d: bug: %s is false\n", __FILE__, __LINE__, \
                   #cond);                                                  \
      std::abort();                                                         \
    }                                                                       \
  } while (false)
