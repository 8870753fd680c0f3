// join: the lightest worker. Joins the world, prints when it held it (seconds
// of the monotonic clock, which all processes of a machine share), leaves.
#include <hvd/hvd.h>

#include <chrono>
#include <cstdio>

int main() {
  hvd::Init();
  const std::chrono::duration<double> held =
      std::chrono::steady_clock::now().time_since_epoch();
  std::printf("held %.6f size %d\n", held.count(), hvd::Size());
  return 0;
}
