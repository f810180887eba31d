/* Vectors of floats. */

typedef float vector __attribute__((vector_size(BYTES)));
typedef float anywhere __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef int bits __attribute__((vector_size(BYTES)));
enum { LANES = BYTES / 4 };

static inline vector load(const float *from) { return *(const anywhere *)from; }

static inline void store(float *to, vector a) { *(anywhere *)to = a; }

/* A function of every lane's number, and of something else. */
#if BYTES == 64
#define LIST(f, a) \
    f(0, a), f(1, a), f(2, a), f(3, a), f(4, a), f(5, a), f(6, a), f(7, a), f(8, a), f(9, a), f(10, a), f(11, a), f(12, a), f(13, a), \
        f(14, a), f(15, a)
#elif BYTES == 32
#define LIST(f, a) f(0, a), f(1, a), f(2, a), f(3, a), f(4, a), f(5, a), f(6, a), f(7, a)
#else
#define LIST(f, a) f(0, a), f(1, a), f(2, a), f(3, a)
#endif
#define ITSELF(lane, a) (a)
#define SPREAD(a) ((vector){LIST(ITSELF, a)})

/* Keeps a vector in a register: from memory, operand after operand, it would be loaded again for each. */
#if defined(__AVX512F__)
#define KEEP(a) __asm__("" : "+v"(a))
#elif defined(__AVX__)
#define KEEP(a) __asm__("" : "+x"(a))
#else
#define KEEP(a)
#endif
