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
#define HVD_ABI_VERSION 1

/* What a call returns when it fails. */
#define HVD_ERR_INVALID (-1)  /* wrong argument, or called before hvd_init */
#define HVD_ERR_COMM (-2)     /* a rank failed: see hvd_failed_rank */
#define HVD_ERR_RUNTIME (-3)  /* hvdrun cannot be reached, bad environment */
#define HVD_ERR_INTERNAL (-4) /* a bug in libhvd, or out of memory */

/* Element types. */
#define HVD_INT32 0
#define HVD_INT64 1
#define HVD_FLOAT32 2
#define HVD_FLOAT64 3

/* How arrays are combined. */
#define HVD_SUM 0
#define HVD_AVERAGE 1
#define HVD_MIN 2
#define HVD_MAX 3

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
HVD_C_API int hvd_barrier(void);

/* `text` ends with a zero byte. */
HVD_C_API int hvd_log_to_driver(const char* text);
HVD_C_API int hvd_set_result(const void* bytes, size_t length);

/* Why the last failing call of this thread failed; copied as hvd_host. */
HVD_C_API int hvd_last_error(char* buffer, size_t length);
/* After HVD_ERR_COMM: the rank that failed, or -1 if no one rank is to blame.
 * It is no error code. */
HVD_C_API int hvd_failed_rank(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HVD_HVD_C_H_ */
