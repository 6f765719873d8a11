// #if in 64 bits, signed and unsigned; operands that are not evaluated; arguments of macros parted by every comma.
#if -1 > 0u
#define UNSIGNED 1
#else
#define UNSIGNED 0
#endif
#if 0 && 1 / 0
#error not evaluated
#elif -1 >> 1 == -1 && (2 ? -1 : 0u) > 5 && 0xffffffff > 0 && '\n' == 10
#define REST 1
#endif
#define SECOND(a, b, ...) b
#define JOINED(a, ...) f(a, ##__VA_ARGS__)
__global__ void k(int a, int b, int c, int d)
{
}

static int f(int a)
{
    return a;
}

extern "C" void go(int n, cudaStream_t stream)
{
    int v[] = {SECOND(1, 2)}, w[2] = {1, 2};
    k<<<1, JOINED(32), 0, stream>>>(UNSIGNED, REST, v[0], SECOND(w[0], w[1], 5));
}

// run: n=1
// launch k (1,1,1) (32,1,1) 0 [1:i32, 1:i32, 2:i32, 2:i32]
