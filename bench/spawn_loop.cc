// spawn_loop N PROGRAM: the floor under every launcher. Starts PROGRAM N times
// with posix_spawn, waits for all of them, does nothing else.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: spawn_loop N PROGRAM\n");
    return 2;
  }
  const long count = std::strtol(argv[1], nullptr, 10);
  char* child_argv[] = {argv[2], nullptr};
  for (long i = 0; i < count; ++i) {
    pid_t pid = -1;
    if (posix_spawn(&pid, argv[2], nullptr, nullptr, child_argv, environ) !=
        0) {
      std::perror(argv[2]);
      return 1;
    }
  }
  int failures = 0;
  for (long i = 0; i < count; ++i) {
    int status = 0;
    if (wait(&status) < 0 || status != 0) ++failures;
  }
  return failures == 0 ? 0 : 1;
}
