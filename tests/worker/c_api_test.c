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

static void check_more_collectives(void) {
  const float in[3] = {1, 2, 3};
  float out[3] = {0, 0, 0};
  const size_t three = 3;
  hvd_tensor tensors[2];
  hvd_counters counters;
  check(hvd_allgatherv(in, out, &three, HVD_FLOAT32) == 0 && out[1] == 2,
        "allgatherv");
  check(hvd_allgatherv(in, out, NULL, HVD_FLOAT32) == HVD_ERR_INVALID,
        "no counts");
  check(hvd_reduce_scatter(in, out, 3, HVD_FLOAT32, HVD_PRODUCT) == 0,
        "reduce-scatter");
  check(hvd_alltoall(in, out, 3, HVD_FLOAT32) == 0, "alltoall");
  check(hvd_alltoallv(in, &three, out, &three, HVD_FLOAT32) == 0, "alltoallv");
  tensors[0].in = in;
  tensors[0].out = out;
  tensors[0].count = 1;
  tensors[1].in = in + 1;
  tensors[1].out = out + 1;
  tensors[1].count = 2;
  out[2] = 0;
  check(hvd_allreduce_grouped(tensors, 2, HVD_FLOAT32, HVD_SUM) == 0 &&
            out[2] == 3,
        "grouped allreduce");
  check(hvd_allreduce_grouped(NULL, 2, HVD_FLOAT32, HVD_SUM) == HVD_ERR_INVALID,
        "no tensors");
  check(hvd_counters_of(HVD_CALL_ALLREDUCE, &counters) == 0 &&
            counters.operations >= 2 && counters.longest_ns > 0,
        "counters");
  check(hvd_counters_of(6, &counters) == HVD_ERR_INVALID, "call 6");
}

static void finish(hvd_work* work, const char* what) {
  check(hvd_work_wait(work) == 1, what);
  hvd_work_free(work);
}

static void check_uneven_work(const int64_t* in, int64_t* out) {
  size_t two = 2;
  hvd_work* work = NULL;
  out[1] = 0;
  check(hvd_allgatherv_async(in, out, &two, HVD_INT64, &work) == 0,
        "start allgatherv");
  two = 0; /* it has the counts */
  finish(work, "allgatherv, later");
  check(out[1] == 5, "its result");
  two = 2;
  out[1] = 0;
  check(hvd_alltoallv_async(in, &two, out, &two, HVD_INT64, &work) == 0,
        "start alltoallv");
  two = 0;
  finish(work, "alltoallv, later");
  check(out[1] == 5, "its result");
  check(hvd_barrier_async(&work) == 0, "start a barrier");
  finish(work, "barrier, later");
  check(
      hvd_allgatherv_async(in, out, NULL, HVD_INT64, &work) == HVD_ERR_INVALID,
      "no counts, later");
  check(hvd_alltoallv_async(in, &two, out, NULL, HVD_INT64, &work) ==
            HVD_ERR_INVALID,
        "nothing received, later");
}

static void check_work(void) {
  const int64_t in[2] = {4, 5};
  int64_t out[2] = {0, 0};
  hvd_work* work = NULL;
  check(hvd_allreduce_async(in, out, 2, HVD_INT64, HVD_SUM, &work) == 0,
        "start");
  check(hvd_work_wait(work) == 1 && out[1] == 5, "wait");
  check(hvd_work_test(work) == 1 && hvd_work_wait_for(work, 1) == 1, "done");
  check(hvd_work_free(work) == 0 && hvd_work_free(NULL) == 0, "free");
  check_uneven_work(in, out);
  check(hvd_allreduce_async(in, out, 2, 9, HVD_SUM, &work) == HVD_ERR_INVALID,
        "type 9, later");
  check(hvd_allreduce_async(in, out, 2, HVD_INT64, HVD_SUM, NULL) ==
            HVD_ERR_INVALID,
        "nowhere to put the work");
  check(hvd_work_wait(NULL) == HVD_ERR_INVALID, "no work");
}

static void check_memory(void) {
  void* memory = NULL;
  check(hvd_alloc(100, &memory) == 0 && memory != NULL, "alloc");
  check(((char*)memory)[99] == 0, "all zero");
  check(hvd_allreduce(memory, memory, 25, HVD_FLOAT32, HVD_SUM) == 0,
        "allreduce in it");
  check(hvd_free(memory) == 0 && hvd_free(NULL) == 0, "free");
  check(hvd_free(&memory) == HVD_ERR_INVALID, "free of something else");
  check(hvd_alloc(1, NULL) == HVD_ERR_INVALID, "nowhere to put it");
}

static void check_refusals(void) {
  char text[128];
  int x = 0;
  check(hvd_allreduce(&x, &x, 1, 9, HVD_SUM) == HVD_ERR_INVALID, "type 9");
  hvd_last_error(text, sizeof text);
  check(strcmp(text, "type must be HVD_INT32 to HVD_BFLOAT16, got 9") == 0,
        "words for type 9");
  check(hvd_allreduce(&x, &x, 1, HVD_INT32, -1) == HVD_ERR_INVALID, "op -1");
  check(hvd_broadcast(&x, 1, HVD_INT32, 1) == HVD_ERR_INVALID, "root 1");
  check(hvd_log_to_driver(NULL) == HVD_ERR_INVALID, "no text");
  check(hvd_failed_rank() == -1, "no rank failed");
}

/* What a training program in C keeps. */
struct training {
  hvd_state* state;
  hvd_sampler* sampler;
  int64_t step;
  float weights[3];
  char note[4];
  int ends_with;
};

static int save_note(void* user, const void** bytes, size_t* length) {
  struct training* const t = user;
  *bytes = t->note;
  *length = sizeof t->note;
  return 0;
}

static int load_note(void* user, const void* bytes, size_t length) {
  struct training* const t = user;
  if (length != sizeof t->note) return 7;
  memcpy(t->note, bytes, length);
  return 0;
}

static int refuse_save(void* user, const void** bytes, size_t* length) {
  (void)user;
  (void)bytes;
  (void)length;
  return 7;
}

static int train(void* user) {
  struct training* const t = user;
  size_t samples[4];
  size_t count = 0;
  size_t steps = 0;
  while (hvd_sampler_steps(t->sampler, 4, &steps) == 0 && steps > 0) {
    check(hvd_sampler_next(t->sampler, 4, samples, &count) == 0, "next");
    check(hvd_sampler_record_batch(t->sampler, count) == 0, "record");
    ++t->step;
    check(hvd_commit(t->state) == 0, "commit");
  }
  check(hvd_check_host_updates() == 0, "no host updates");
  return t->ends_with;
}

static void check_elastic(void) {
  char text[128];
  struct training t = {NULL, NULL, 0, {1, 2, 3}, "abc", 0};
  check(hvd_state_create(NULL) == HVD_ERR_INVALID, "nowhere to put a state");
  check(hvd_state_create(&t.state) == 0, "state");
  check(hvd_sampler_create(10, 1, 1, &t.sampler) == 0, "sampler");
  check(hvd_register_memory(t.state, &t.step, sizeof t.step) == 0, "memory");
  check(hvd_register_array(t.state, t.weights, 3, HVD_FLOAT32) == 0, "array");
  check(hvd_register_array(t.state, t.weights, 3, 9) == HVD_ERR_INVALID,
        "array of type 9");
  check(hvd_register_custom(t.state, save_note, load_note, &t) == 0, "custom");
  check(hvd_register_custom(t.state, NULL, load_note, &t) == HVD_ERR_INVALID,
        "custom without save");
  check(hvd_register_sampler(t.state, t.sampler) == 0, "register sampler");
  check(hvd_run_elastic(t.state, train, &t) == 0, "run");
  check(t.step == 3, "10 samples are 3 batches of 4");

  check(hvd_save(t.state) == 0, "save");
  t.step = 0;
  t.weights[2] = 0;
  t.note[0] = 'x';
  check(hvd_restore(t.state) == 0, "restore");
  check(t.step == 3 && t.weights[2] == 3 && t.note[0] == 'a', "restored");
  check(hvd_sync(t.state) == 0, "sync");

  t.ends_with = HVD_ERR_RUNTIME;
  check(hvd_run_elastic(t.state, train, &t) == HVD_ERR_RUNTIME, "own code");
  t.ends_with = 5;
  check(hvd_run_elastic(t.state, train, &t) == HVD_ERR_INVALID, "positive");
  check(hvd_run_elastic(t.state, NULL, &t) == HVD_ERR_INVALID, "no function");
  check(hvd_sampler_record_batch(t.sampler, 1) == HVD_ERR_INVALID, "too many");
  check(hvd_sampler_set_epoch(t.sampler, 1) == 0, "next epoch");
  check(hvd_sampler_record_batch(t.sampler, 1) == 0, "of the next epoch");
  check(hvd_register_custom(t.state, refuse_save, load_note, &t) == 0, "fails");
  check(hvd_save(t.state) == HVD_ERR_RUNTIME, "save fails");
  hvd_last_error(text, sizeof text);
  check(strcmp(text, "save returned 7") == 0, "why save failed");
  check(hvd_state_destroy(t.state) == 0, "destroy");
  check(hvd_sampler_destroy(t.sampler) == 0, "destroy the sampler");
}

int main(void) {
  check_before_init();
  check(hvd_init() == 0, "init");
  check_identity();
  check_collectives();
  check_more_collectives();
  check_work();
  check_memory();
  check_refusals();
  check_elastic();
  check(hvd_set_result("abc", 3) == 0, "result");
  check(hvd_shutdown() == 0, "shutdown");
  check(hvd_barrier() == HVD_ERR_INVALID, "barrier after shutdown");
  return wrong;
}
