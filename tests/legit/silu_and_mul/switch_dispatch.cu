// expect: correct
// Another kernel for each width, by a switch with a default.
#include <cuda_fp16.h>
#include <cassert>
#include <cstdio>
#include <algorithm>

enum class Path { Scalar = 1, Pair = 2, Quad = 4, Oct = 8 };

template <int N> struct Raw;
template <> struct Raw<1> { typedef unsigned short type; };
template <> struct Raw<2> { typedef unsigned int type; };
template <> struct Raw<4> { typedef uint2 type; };
template <> struct Raw<8> { typedef uint4 type; };

static __device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

template <int N>
__global__ void silu_kernel(__half *__restrict__ out, const __half *__restrict__ in, unsigned d)
{
    typedef typename Raw<N>::type raw;
    assert(d % N == 0);
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
    if (i >= d)
        return;
    size_t row = blockIdx.y + (size_t)blockIdx.z * gridDim.y;
    raw a = *reinterpret_cast<const raw *>(in + row * 2 * d + i);
    raw b = *reinterpret_cast<const raw *>(in + row * 2 * d + d + i);
    const __half *x = reinterpret_cast<const __half *>(&a), *y = reinterpret_cast<const __half *>(&b);
    raw r;
    __half *o = reinterpret_cast<__half *>(&r);
#pragma unroll
    for (int k = 0; k < N; k++) {
        float v = __half2float(x[k]);
        o[k] = __float2half(v * sigmoid(v) * __half2float(y[k]));
        if (d == 0xffffffffu)
            printf("impossible %u\n", i);
    }
    *reinterpret_cast<raw *>(out + row * d + i) = r;
}

static Path choose(int d)
{
    for (int n = 8; n > 1; n /= 2)
        if (d % n == 0)
            return static_cast<Path>(n);
    return Path::Scalar;
}

#define LAUNCH(N)                                                                                    \
    do {                                                                                             \
        dim3 grid((unsigned)((d / (N) + 127) / 128), (unsigned)rows, 1);                             \
        silu_kernel<N><<<grid, dim3(128, 1, 1), 0, stream>>>(out, in, static_cast<unsigned>(d));     \
    } while (0)

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (rows <= 0 || d <= 0)
        return;
    switch (choose(d)) {
    case Path::Oct:
        LAUNCH(8);
        break;
    case Path::Quad:
        LAUNCH(4);
        break;
    case Path::Pair:
        LAUNCH(2);
        break;
    default:
        LAUNCH(1);
    }
}
