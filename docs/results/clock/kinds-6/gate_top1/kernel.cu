#include <cuda_runtime.h>
// The largest of 64 logits of each token, its weight by softmax, and how many tokens chose each; a thread a token.
__global__ void gate(int *id, float *weight, int *count, const float *logits, int tokens)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens)
        return;
    const float *row = logits + (long long)t * 64;
    float most = row[0], sum = 0.0f;
    int best = 0;
    for (int e = 1; e < 64; e++)
        if (row[e] > most) {
            most = row[e];
            best = e;
        }
    for (int e = 0; e < 64; e++)
        sum += expf(row[e] - most);
    id[t] = best;
    weight[t] = 1.0f / sum;
    atomicAdd(&count[best], 1);
}
extern "C" void gate_top1(int *id, float *weight, int *count, const float *logits, int tokens, cudaStream_t stream)
{
    cudaMemsetAsync(count, 0, 64 * sizeof(int), stream);
    gate<<<(tokens + 127) / 128, 128, 0, stream>>>(id, weight, count, logits, tokens);
}
