#include <cuda_runtime.h>
// A thread a blank and the name behind it, whose sums stay in registers; the neighbour's comes by a shuffle, across
// warps by shared memory. What a step reads of the input is read four steps ahead.
__device__ __forceinline__ float sum2(float a, float b)
{
    return fmaxf(a, b) + log1pf(expf(fminf(a, b) - fmaxf(a, b)));
}
__device__ __forceinline__ float sum3(float a, float b, float c)
{
    float most = fmaxf(fmaxf(a, b), c);
    return most + logf(expf(a - most) + expf(b - most) + expf(c - most));
}
__global__ void forward(float *__restrict__ loss, const float *__restrict__ logp, const int *__restrict__ label,
                        int steps, int names, int len)
{
    __shared__ float edge[2][17];
    __shared__ float last[2];
    int i = threadIdx.x, lane = i % 32, warp = i / 32;
    logp += (long long)blockIdx.x * steps * names;
    label += (long long)blockIdx.x * len;
    int name = i < len ? label[i] : 0;
    bool skip = i > 0 && i < len && name != label[i - 1];
    float blank = i == 0 ? logp[0] : -1e30f, named = i == 0 ? logp[name] : -1e30f;
    float pb[4], pn[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float *row = logp + (long long)min(1 + k, steps - 1) * names;
        pb[k] = row[0];
        pn[k] = row[name];
    }
    for (int first = 1; first < steps; first += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int t = first + k;
            if (t >= steps)
                break;
            float before = __shfl_up_sync(~0u, named, 1);
            if (blockDim.x > 32) {
                if (lane == 31)
                    edge[t % 2][warp + 1] = named;
                __syncthreads();
                if (lane == 0 && warp > 0)
                    before = edge[t % 2][warp];
            }
            if (i == 0)
                before = -1e30f;
            float b = sum2(blank, before) + pb[k];
            named = sum3(named, blank, skip ? before : -1e30f) + pn[k];
            blank = b;
            const float *row = logp + (long long)min(t + 4, steps - 1) * names;
            pb[k] = row[0];
            pn[k] = row[name];
        }
    }
    if (i == len)
        last[0] = blank;
    if (i == len - 1)
        last[1] = named;
    __syncthreads();
    if (i == 0)
        loss[blockIdx.x] = -sum2(last[0], last[1]);
}
extern "C" void ctc_alpha(float *loss, const float *logp, const int *label, float *alpha, int steps, int names, int len,
                          int batch, cudaStream_t stream)
{
    forward<<<batch, (len + 32) / 32 * 32, 0, stream>>>(loss, logp, label, steps, names, len);
}
