/* libhvd for C, and for every language that can call C.
 *
 *   #include <hvd/hvd_c.h>
 *
 *   int main(void) {
 *     float grad[4] = {1, 2, 3, 4};
 *     if (hvd_init() < 0) return 1;
 *     hvd_allreduce(grad, grad, 4, HVD_FLOAT32, HVD_AVERAGE);
 *     return hvd_shutdown() < 0;
 *   }
 *
 * Every function returns an int: 0 or more is success, a negative HVD_ERR_...
 * is failure, and hvd_last_error() then says what happened. Meanings, threads
 * and shapes are those of hvd/hvd.h.
 */
#ifndef HVD_HVD_C_H_
#define HVD_HVD_C_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HVD_C_API __attribute__((visibility("default")))
#else
#define HVD_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function is added; a change that breaks callers gets a new
 * library name (libhvd.so.1). */
#define HVD_ABI_VERSION 4

/* What a call returns when it fails. */
#define HVD_ERR_INVALID (-1)  /* wrong argument, or called before hvd_init */
#define HVD_ERR_COMM (-2)     /* a rank failed: see hvd_failed_rank */
#define HVD_ERR_RUNTIME (-3)  /* hvdrun cannot be reached, bad environment */
#define HVD_ERR_INTERNAL (-4) /* a bug in libhvd, or out of memory */
#define HVD_ERR_HOSTS_UPDATED (-5) /* no failure: see hvd_commit */

/* Element types. */
#define HVD_INT32 0
#define HVD_INT64 1
#define HVD_FLOAT32 2
#define HVD_FLOAT64 3
#define HVD_UINT8 4
#define HVD_INT8 5
#define HVD_FLOAT16 6 /* IEEE 754 half precision */
#define HVD_BFLOAT16 7

/* How arrays are combined. */
#define HVD_SUM 0
#define HVD_AVERAGE 1
#define HVD_MIN 2
#define HVD_MAX 3
#define HVD_PRODUCT 4

/* The HVD_ABI_VERSION of the library that is loaded. Works before hvd_init. */
HVD_C_API int hvd_abi_version(void);

HVD_C_API int hvd_init(void);
HVD_C_API int hvd_shutdown(void);
HVD_C_API int hvd_is_initialized(void); /* 1 or 0 */

/* The number itself, or a negative code before hvd_init. */
HVD_C_API int hvd_rank(void);
HVD_C_API int hvd_size(void);
HVD_C_API int hvd_local_rank(void);
HVD_C_API int hvd_local_size(void);
HVD_C_API int hvd_cross_rank(void);
HVD_C_API int hvd_cross_size(void);
HVD_C_API int hvd_epoch(uint64_t* epoch);
/* Copies the host's name, cut to `length` - 1 bytes and ended by a zero byte;
 * returns its whole length. `buffer` may be NULL if `length` is 0. */
HVD_C_API int hvd_host(char* buffer, size_t length);

/* `type` is HVD_INT32 ..., `op` HVD_SUM ...; `in` may equal `out`. */
HVD_C_API int hvd_allreduce(const void* in, void* out, size_t count, int type,
                            int op);
HVD_C_API int hvd_broadcast(void* data, size_t count, int type, int root);
/* `out` has room for hvd_size() * count elements. */
HVD_C_API int hvd_allgather(const void* in, void* out, size_t count, int type);
/* counts[r] elements come from rank r; hvd_size() of them, alike on all. */
HVD_C_API int hvd_allgatherv(const void* in, void* out, const size_t* counts,
                             int type);
/* `in` has hvd_size() * count elements, `out` room for `count`. */
HVD_C_API int hvd_reduce_scatter(const void* in, void* out, size_t count,
                                 int type, int op);
/* `count` elements to and from every rank; `in` may equal `out`. */
HVD_C_API int hvd_alltoall(const void* in, void* out, size_t count, int type);
/* sent[r] elements to rank r, received[r] from it. */
HVD_C_API int hvd_alltoallv(const void* in, const size_t* sent, void* out,
                            const size_t* received, int type);
HVD_C_API int hvd_barrier(void);

/* ---- many arrays, and calls that do not wait ------------------------------
 */

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming) */
typedef struct hvd_tensor {
  const void* in;
  void* out; /* may be `in` */
  size_t count;
} hvd_tensor;
typedef struct hvd_work hvd_work;
/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

HVD_C_API int hvd_allreduce_grouped(const hvd_tensor* tensors, size_t length,
                                    int type, int op);
/* `*work` is the caller's until hvd_work_free, which does not wait; arrays stay
 * as they are until it is done, counts are copied. */
HVD_C_API int hvd_allreduce_async(const void* in, void* out, size_t count,
                                  int type, int op, hvd_work** work);
HVD_C_API int hvd_allreduce_grouped_async(const hvd_tensor* tensors,
                                          size_t length, int type, int op,
                                          hvd_work** work);
HVD_C_API int hvd_reduce_scatter_async(const void* in, void* out, size_t count,
                                       int type, int op, hvd_work** work);
HVD_C_API int hvd_broadcast_async(void* data, size_t count, int type, int root,
                                  hvd_work** work);
HVD_C_API int hvd_allgather_async(const void* in, void* out, size_t count,
                                  int type, hvd_work** work);
HVD_C_API int hvd_allgatherv_async(const void* in, void* out,
                                   const size_t* counts, int type,
                                   hvd_work** work);
HVD_C_API int hvd_alltoall_async(const void* in, void* out, size_t count,
                                 int type, hvd_work** work);
HVD_C_API int hvd_alltoallv_async(const void* in, const size_t* sent, void* out,
                                  const size_t* received, int type,
                                  hvd_work** work);
HVD_C_API int hvd_barrier_async(hvd_work** work);
/* 1: done; 0: not yet; or how it failed. */
HVD_C_API int hvd_work_test(hvd_work* work);
/* The same after `limit_ms` at the latest. */
HVD_C_API int hvd_work_wait_for(hvd_work* work, uint64_t limit_ms);
HVD_C_API int hvd_work_wait(hvd_work* work);
HVD_C_API int hvd_work_free(hvd_work* work); /* NULL is allowed */

/* ---- memory and counters ---------------------------------------------------
 */

HVD_C_API int hvd_alloc(size_t bytes, void** memory);
HVD_C_API int hvd_free(void* memory); /* NULL is allowed */

#define HVD_CALL_ALLREDUCE 0
#define HVD_CALL_BROADCAST 1
#define HVD_CALL_ALLGATHER 2
#define HVD_CALL_BARRIER 3
#define HVD_CALL_REDUCE_SCATTER 4
#define HVD_CALL_ALLTOALL 5
/* NOLINTNEXTLINE(modernize-use-using, readability-identifier-naming) */
typedef struct hvd_counters {
  uint64_t operations; /* finished in the present world */
  uint64_t bytes;      /* of this rank's input */
  uint64_t time_ns;
  uint64_t longest_ns;
} hvd_counters;
HVD_C_API int hvd_counters_of(int call, hvd_counters* counters);

/* `text` ends with a zero byte. */
HVD_C_API int hvd_log_to_driver(const char* text);
HVD_C_API int hvd_set_result(const void* bytes, size_t length);

/* ---- elastic: hvd/elastic.h has the meanings ------------------------------
 */

/* NOLINTBEGIN(modernize-use-using): this is C */
typedef struct hvd_state hvd_state;
typedef struct hvd_sampler hvd_sampler;
/* NOLINTEND(modernize-use-using) */

/* `*state` is the caller's until hvd_state_destroy; what is registered outlives
 * it. */
HVD_C_API int hvd_state_create(hvd_state** state);
HVD_C_API int hvd_state_destroy(hvd_state* state); /* NULL is allowed */

HVD_C_API int hvd_register_array(hvd_state* state, void* data, size_t count,
                                 int type);
/* Plain memory, e.g. a struct without pointers; as long on every rank. */
HVD_C_API int hvd_register_memory(hvd_state* state, void* data, size_t length);
/* `save` points *bytes to *length bytes, which stay until it is called again;
 * `load` takes such bytes, from here or from another rank. Both return 0, or
 * something else to fail the call that needed them with HVD_ERR_RUNTIME. */
/* NOLINTBEGIN(modernize-use-using) */
typedef int (*hvd_save_fn)(void* user, const void** bytes, size_t* length);
typedef int (*hvd_load_fn)(void* user, const void* bytes, size_t length);
/* NOLINTEND(modernize-use-using) */
HVD_C_API int hvd_register_custom(hvd_state* state, hvd_save_fn save,
                                  hvd_load_fn load, void* user);
HVD_C_API int hvd_register_sampler(hvd_state* state, hvd_sampler* sampler);

/* HVD_ERR_HOSTS_UPDATED, on all ranks at once: it is saved, and the function
 * that hvd_run_elastic runs is to return that code. */
HVD_C_API int hvd_commit(hvd_state* state);
HVD_C_API int hvd_save(hvd_state* state);
HVD_C_API int hvd_restore(hvd_state* state);
HVD_C_API int hvd_sync(hvd_state* state);
HVD_C_API int hvd_check_host_updates(void); /* as hvd_commit */

/* What hvd_run_elastic returns when this worker is not wanted any more. */
#define HVD_REMOVED 1
/* Runs `fn` until it returns 0, and returns 0. When `fn` returns HVD_ERR_COMM
 * or HVD_ERR_HOSTS_UPDATED, as a call in it did, this worker joins the next
 * world and runs it again; another negative code is returned as it is. */
HVD_C_API int hvd_run_elastic(hvd_state* state, int (*fn)(void* user),
                              void* user);

/* `shuffled`: 1, or 0 for the order as it is. */
HVD_C_API int hvd_sampler_create(size_t samples, uint64_t seed, int shuffled,
                                 hvd_sampler** sampler);
HVD_C_API int hvd_sampler_destroy(hvd_sampler* sampler); /* NULL is allowed */
HVD_C_API int hvd_sampler_set_epoch(hvd_sampler* sampler, uint64_t epoch);
/* At most `limit` of this rank's next samples; *count is how many. */
HVD_C_API int hvd_sampler_next(hvd_sampler* sampler, size_t limit,
                               size_t* samples, size_t* count);
HVD_C_API int hvd_sampler_record_batch(hvd_sampler* sampler, size_t count);
HVD_C_API int hvd_sampler_steps(hvd_sampler* sampler, size_t batch,
                                size_t* steps);

/* Why the last failing call of this thread failed; copied as hvd_host. */
HVD_C_API int hvd_last_error(char* buffer, size_t length);
/* After HVD_ERR_COMM: the rank that failed, or -1 if no one rank is to blame.
 * It is no error code. */
HVD_C_API int hvd_failed_rank(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HVD_HVD_C_H_ */
