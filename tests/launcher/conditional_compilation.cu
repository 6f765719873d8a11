// #if, #ifdef, #elif, defined(), nested; what only the device's compiler knows.
#define VERSION 3
#define USE_WIDE
#if defined(USE_WIDE) && VERSION >= 2
#if VERSION > 5
#define WIDTH 16
#elif VERSION == 3
#define WIDTH 8
#else
#define WIDTH 4
#endif
#else
#define WIDTH 1
#endif
#ifndef NOTHING
#define EXTRA (WIDTH << 1)
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool has_groups = true;
#else
constexpr bool has_groups = false;
#endif

__global__ void k(int n)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
#ifdef NOTHING
    unknown(words here
#endif
    k<<<WIDTH, 32, 0, stream>>>(EXTRA);
}

// run:
// launch k (8,1,1) (32,1,1) 0 [16:i32]
