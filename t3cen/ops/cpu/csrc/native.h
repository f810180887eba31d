/* What all compiled code needs: vectors as wide as the processor's, and threads. */

#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif

#define INLINE static inline __attribute__((always_inline))

static inline long least(long a, long b) { return a < b ? a : b; }
static inline long most(long a, long b) { return a > b ? a : b; }
static inline long shares(long whole, long share) { return (whole + share - 1) / share; }

/* Threads are those of the OpenMP runtime that PyTorch has loaded. Where that has not GNU's names (macOS is untested) there is one
   thread: `#pragma omp` would bring a second runtime into the process. */
extern void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
extern int omp_get_thread_num(void) __attribute__((weak));
extern int omp_get_num_threads(void) __attribute__((weak));

/* Part `index` of `parts` of a job. */
typedef void work(const void *job, long index, long parts);

struct team {
    work *part;
    const void *job;
};

static inline void member(void *team) {
    ((struct team *)team)->part(((struct team *)team)->job, omp_get_thread_num(), omp_get_num_threads());
}

static inline void in_parts(work *part, const void *job, int threads) {
    struct team team = {part, job};
    if (threads > 1 && GOMP_parallel && omp_get_thread_num && omp_get_num_threads)
        GOMP_parallel(member, &team, threads, 0);
    else
        part(job, 0, 1);
}
