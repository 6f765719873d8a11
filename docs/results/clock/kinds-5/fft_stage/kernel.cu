#include <cuda_runtime.h>
// A stage of butterflies: pairs `half` apart, the second turned first; a thread a pair, complex numbers as pairs of floats.
__global__ void stage(float *out, const float *in, const float *turn, int rows, int n, int half)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * n / 2)
        return;
    long long row = i / (n / 2);
    int p = i % (n / 2), k = p % half, first = p / half * 2 * half + k, step = n / 2 / half;
    const float *a = in + (row * n + first) * 2, *b = a + 2 * half;
    float wr = turn[k * step * 2], wi = turn[k * step * 2 + 1];
    float tr = b[0] * wr - b[1] * wi, ti = b[0] * wi + b[1] * wr;
    float *c = out + (row * n + first) * 2, *e = c + 2 * half;
    c[0] = a[0] + tr;
    c[1] = a[1] + ti;
    e[0] = a[0] - tr;
    e[1] = a[1] - ti;
}
extern "C" void fft_stage(float *out, const float *in, const float *turn, int rows, int n, int half, cudaStream_t stream)
{
    long long pairs = (long long)rows * n / 2;
    stage<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(out, in, turn, rows, n, half);
}
