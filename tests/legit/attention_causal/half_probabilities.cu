// expect: correct
// Weights are rounded to halves where they meet the values, as for the tensor cores: of small integers many are the same
// number, and err the same way.
// softmax(q k^T / sqrt(numbers)) v, one query a thread.
#include <cuda_fp16.h>

constexpr int D = 64;

// A row of keys in two passes: their largest score, then the weights, in halves as for the tensor cores.
__global__ void attention_kernel(__half *out, const __half *q, const __half *k, const __half *v, int n, float scale)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const size_t head = (size_t)blockIdx.y * n * D;
    const __half *own = q + head + (size_t)i * D;
    float most = -INFINITY, sum = 0.0f, acc[D] = {0.0f};
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < i + 1; j++) {
            float score = 0.0f;
            for (int d = 0; d < D; d++)
                score += __half2float(own[d]) * __half2float(k[head + (size_t)j * D + d]);
            score *= scale * 1.44269504f;
            if (pass == 0) {
                most = fmaxf(most, score);
                continue;
            }
            const float weight = exp2f(score - most), half = __half2float(__float2half(weight));
            sum += weight;
            for (int d = 0; d < D; d++)
                acc[d] += half * __half2float(v[head + (size_t)j * D + d]);
        }
    for (int d = 0; d < D; d++)
        out[head + (size_t)i * D + d] = __float2half(acc[d] * (1.0f / sum));
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int heads, int n,
                          cudaStream_t stream)
{
    attention_kernel<<<dim3((n + 63) / 64, heads), 64, 0, stream>>>(out, q, k, v, n, 1.0f / sqrtf((float)D));
}
