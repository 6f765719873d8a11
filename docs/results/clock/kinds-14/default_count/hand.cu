#include <cuda_runtime.h>
// A warp a book, and the whole row in its registers: a lane has some neighbouring numbers, one shuffle a loan
// brings the last one of the lane below. No block waits for anything.
template <int N> __global__ void __launch_bounds__(64)
    convolve(double *__restrict__ out, const double *__restrict__ chance, int books, int names)
{
    int lane = threadIdx.x & 31, book = blockIdx.x * 2 + (threadIdx.x >> 5);
    if (book >= books)
        return;
    const double *from = chance + (long long)book * names;
    double d[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        d[j] = 0.0;
    if (lane == 0)
        d[0] = 1.0;
    double ahead = lane < names ? from[lane] : 0.0;
    for (int first = 0; first < names; first += 32) {
        double mine = ahead;
        ahead = first + 32 + lane < names ? from[first + 32 + lane] : 0.0;
        int many = min(32, names - first);
        for (int i = 0; i < many; i++) {
            double p = __shfl_sync(~0u, mine, i), q = 1.0 - p;
            double below = __shfl_up_sync(~0u, d[N - 1], 1);
            if (lane == 0)
                below = 0.0;
#pragma unroll
            for (int j = N - 1; j > 0; j--)
                d[j] = fma(d[j - 1], p, d[j] * q);
            d[0] = fma(below, p, d[0] * q);
        }
    }
    double *to = out + (long long)book * (names + 1);
#pragma unroll
    for (int j = 0; j < N; j++)
        if (lane * N + j <= names)
            to[lane * N + j] = d[j];
}
extern "C" void default_count(double *out, const double *chance, int books, int names, cudaStream_t stream)
{
    int blocks = (books + 1) / 2;
    if (names < 64)
        convolve<2><<<blocks, 64, 0, stream>>>(out, chance, books, names);
    else if (names < 128)
        convolve<4><<<blocks, 64, 0, stream>>>(out, chance, books, names);
    else if (names < 256)
        convolve<8><<<blocks, 64, 0, stream>>>(out, chance, books, names);
    else
        convolve<16><<<blocks, 64, 0, stream>>>(out, chance, books, names);
}
