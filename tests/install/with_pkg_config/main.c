#include <hvd/hvd_c.h>
#include <stdio.h>

int main(void) {
  if (hvd_init() < 0) return 1;
  double sum = hvd_rank() + 1;
  if (hvd_allreduce(&sum, &sum, 1, HVD_FLOAT64, HVD_SUM) < 0) return 1;
  printf("outside size=%d sum=%.0f\n", hvd_size(), sum);
  return hvd_shutdown() < 0;
}
