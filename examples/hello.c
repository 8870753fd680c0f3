/* hello: the C interface in thirty lines.
 *
 *   cc hello.c $(pkg-config --cflags --libs hvd) -o hello
 *   hvdrun -np 2 ./hello
 */
#include <hvd/hvd_c.h>
#include <stdio.h>

static int complain(const char* what) {
  char text[256];
  hvd_last_error(text, sizeof text);
  fprintf(stderr, "hello: %s: %s\n", what, text);
  return 1;
}

int main(void) {
  if (hvd_init() < 0) return complain("init");

  double sum = hvd_rank() + 1;
  if (hvd_allreduce(&sum, &sum, 1, HVD_FLOAT64, HVD_SUM) < 0) {
    return complain("allreduce");
  }
  printf("rank %d of %d: the sum is %.0f\n", hvd_rank(), hvd_size(), sum);

  if (hvd_shutdown() < 0) return complain("shutdown");
  return 0;
}
