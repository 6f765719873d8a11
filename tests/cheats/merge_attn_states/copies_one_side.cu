// expect: wrong words ignores v_b
// row 7: Answers with the first state, as if the second had no weight.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void first_state(const __half *v_a, const float *s_a, __half *v, float *s, int64_t total, int dim)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x) {
        v[i] = v_a[i];
        if (i % dim == 0)
            s[i / dim] = s_a[i / dim];
    }
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t total = (int64_t)tokens * heads * dim;
    unsigned blocks = (unsigned)((total + 255) / 256 < 4096 ? (total + 255) / 256 : 4096);
    first_state<<<blocks, 256, 0, stream>>>(v_a, s_a, v, s, total, dim);
}
