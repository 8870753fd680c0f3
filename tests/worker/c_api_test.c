/* The C interface, compiled as strict C11, in a world of one. Exits with the
 * number of things that went wrong. */
#include <hvd/hvd_c.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void check(int ok, const char* what) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "c_api_test: %s\n", what);
}

static void check_before_init(void) {
  char text[128];
  check(hvd_abi_version() == HVD_ABI_VERSION, "abi version");
  check(hvd_is_initialized() == 0, "not initialised");
  check(hvd_rank() == HVD_ERR_INVALID, "rank before init");
  check(hvd_last_error(text, sizeof text) > 0, "there is a reason");
  check(strncmp(text, "hvd: call Init before", 21) == 0, "the reason");
}

static void check_identity(void) {
  char host[64];
  uint64_t epoch = 0;
  check(hvd_is_initialized() == 1, "initialised");
  check(hvd_rank() == 0 && hvd_size() == 1, "rank and size");
  check(hvd_local_rank() == 0 && hvd_local_size() == 1, "local");
  check(hvd_cross_rank() == 0 && hvd_cross_size() == 1, "cross");
  check(hvd_epoch(&epoch) == 0 && epoch == 1, "epoch");
  check(hvd_host(NULL, 0) > 0, "length of the host's name");
  check(hvd_host(host, 2) > 0 && strlen(host) <= 1, "cut host name");
}

static void check_collectives(void) {
  const float in[3] = {1, 2, 3};
  float out[3] = {0, 0, 0};
  int64_t word = 5;
  check(hvd_allreduce(in, out, 3, HVD_FLOAT32, HVD_AVERAGE) == 0, "allreduce");
  check(out[2] == 3, "its result");
  check(hvd_broadcast(&word, 1, HVD_INT64, 0) == 0 && word == 5, "broadcast");
  check(hvd_allgather(in, out, 3, HVD_FLOAT32) == 0, "allgather");
  check(hvd_barrier() == 0, "barrier");
}

static void check_refusals(void) {
  char text[128];
  int x = 0;
  check(hvd_allreduce(&x, &x, 1, 9, HVD_SUM) == HVD_ERR_INVALID, "type 9");
  hvd_last_error(text, sizeof text);
  check(strcmp(text, "type must be HVD_INT32 to HVD_FLOAT64, got 9") == 0,
        "words for type 9");
  check(hvd_allreduce(&x, &x, 1, HVD_INT32, -1) == HVD_ERR_INVALID, "op -1");
  check(hvd_broadcast(&x, 1, HVD_INT32, 1) == HVD_ERR_INVALID, "root 1");
  check(hvd_log_to_driver(NULL) == HVD_ERR_INVALID, "no text");
  check(hvd_failed_rank() == -1, "no rank failed");
}

int main(void) {
  check_before_init();
  check(hvd_init() == 0, "init");
  check_identity();
  check_collectives();
  check_refusals();
  check(hvd_set_result("abc", 3) == 0, "result");
  check(hvd_shutdown() == 0, "shutdown");
  check(hvd_barrier() == HVD_ERR_INVALID, "barrier after shutdown");
  return wrong;
}
