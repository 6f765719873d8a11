#include <cuda_runtime.h>
// A warp a token, two logits a lane; a block counts in shared memory.
__global__ void gate(int *__restrict__ id, float *__restrict__ weight, int *count, const float2 *__restrict__ logits, int tokens)
{
    __shared__ int chosen[64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 64)
        chosen[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int t = blockIdx.x * 32 + warp * 4 + k;
        if (t >= tokens)
            break;
        float2 v = logits[(long long)t * 32 + lane];
        float most = v.y > v.x ? v.y : v.x;
        int best = v.y > v.x ? 2 * lane + 1 : 2 * lane;
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            float other = __shfl_xor_sync(~0u, most, d);
            int who = __shfl_xor_sync(~0u, best, d);
            if (other > most || (other == most && who < best)) {
                most = other;
                best = who;
            }
        }
        float sum = expf(v.x - most) + expf(v.y - most);
#pragma unroll
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0) {
            id[t] = best;
            weight[t] = 1.0f / sum;
            atomicAdd(&chosen[best], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && chosen[threadIdx.x])
        atomicAdd(&count[threadIdx.x], chosen[threadIdx.x]);
}
extern "C" void gate_top1(int *id, float *weight, int *count, const float *logits, int tokens, cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, 64 * sizeof(int), stream);
    gate<<<(tokens + 31) / 32, 256, 0, stream>>>(id, weight, count, (const float2 *)logits, tokens);
}
