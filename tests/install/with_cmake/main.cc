#include <hvd/hvd.h>

#include <cstdio>

int main() {
  hvd::Init();
  double sum = hvd::Rank() + 1;
  hvd::AllReduce(&sum, 1, hvd::ReduceOp::kSum);
  std::printf("outside size=%d sum=%.0f\n", hvd::Size(), sum);
}
