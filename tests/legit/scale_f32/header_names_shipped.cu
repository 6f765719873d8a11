// expect: correct
// Names of headers, which the host compiler's have in other words, an assertion, a macro that begins in the launcher,
// a check that says its file and line.
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

struct Pair {
    int first;
    float second;
};

static void check(cudaError_t error, const char *file, int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s\n", file, line, cudaGetErrorString(error));
}

#define CHECK(error) check(error, __FILE__, __LINE__)

void check_last()
{
    CHECK(cudaGetLastError());
}

static int rows_of(int rows)
{
#define THREADS 128
    cudaGetLastError();
    return rows;
}

__device__ float kept(float v)
{
    float *none = NULL;
    bool odd = v == INFINITY || v == -HUGE_VALF || v > FLT_MAX || v != v || none != NULL;
    return odd ? v + (offsetof(Pair, second) == 4 ? 0.f : NAN) + (float)(INT64_C(5) - 5) : v;
}

__global__ void __launch_bounds__(THREADS) scale_kernel(float *out, const float *x, const float *w, int d)
{
    assert(blockDim.x == THREADS && d <= INT_MAX);
    int64_t row = (int64_t)blockIdx.x * d;
#pragma unroll 4
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = kept(x[row + i] * w[i]);
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows_of(rows), THREADS, 0, stream>>>(out, x, w, d);
}
