// Launches in macros that are undefined again; a kernel that does nothing for one type; what a kernel asserts.
#include <assert.h>
#include <cuda_fp16.h>

__global__ void shift_rows(float *out, const float *x, int width)
{
}

template <typename T> __global__ void shift_rows(T *out, const T *x, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = x[blockIdx.x * width + (i + 1) % width];
}

template <typename T> void launch_shift(T *out, const T *x, int rows, int width, cudaStream_t stream)
{
    width >>= 3;
    shift_rows<<<rows, 64, 0, stream>>>(out, x, width);
}

#define LAUNCH(n) sum_parts<threads, n><<<rows, threads>>>(x, out, width)

template <int THREADS, int N> __global__ void sum_parts(const int *x, int *out, int width)
{
    assert(width % N == 0);
    for (int i = threadIdx.x * N; i < width; i += THREADS * N) {
        int sum = 0;
        for (int k = 0; k < N; k++)
            sum += x[blockIdx.x * width + i + k];
        for (int k = 0; k < N; k++)
            out[blockIdx.x * width + i + k] = sum;
    }
}

template <int threads> void launch_parts(const int *x, int *out, int rows, int width)
{
    if (width <= 256) {
        LAUNCH(1);
    } else {
        LAUNCH(4);
    }
}
#undef LAUNCH

#define CHOOSE(threads) launch_parts<threads>(x, out, rows, width)
void sum_rows(const int *x, int *out, int rows, int width)
{
    if (rows > 4)
        CHOOSE(64);
    else
        CHOOSE(128);
}
