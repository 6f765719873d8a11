#include <cuda_runtime.h>
// Complex numbers as float2, a row along the grid's y, four rows a thread with the same turn.
__global__ void stage(float2 *__restrict__ out, const float2 *__restrict__ in, const float2 *__restrict__ turn, int rows, int n, int half)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / 2)
        return;
    int k = p % half, first = p / half * 2 * half + k;
    float2 w = turn[k * (n / 2 / half)];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int row = blockIdx.y * 4 + q;
        if (row >= rows)
            return;
        long long at = (long long)row * n + first;
        float2 a = in[at], b = in[at + half];
        float tr = b.x * w.x - b.y * w.y, ti = b.x * w.y + b.y * w.x;
        out[at] = make_float2(a.x + tr, a.y + ti);
        out[at + half] = make_float2(a.x - tr, a.y - ti);
    }
}
extern "C" void fft_stage(float *out, const float *in, const float *turn, int rows, int n, int half, cudaStream_t stream)
{
    stage<<<dim3((n / 2 + 127) / 128, (rows + 3) / 4), 128, 0, stream>>>((float2 *)out, (const float2 *)in, (const float2 *)turn, rows, n, half);
}
