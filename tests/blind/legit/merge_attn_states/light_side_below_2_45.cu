// Right: a side that weighs at most 2^-45 of the other is not read: the largest half, 65504, times that is below 2^-29,
// a 32nd of the least distance of two halves, so the heavy side's half is the nearest one; the weights' sum is 1 in float.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int VEC = 8;

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

template <bool VECTORS>
__global__ void __launch_bounds__(256)
    merge_kernel(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                 const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t pieces,
                 int pieces_a_state)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t state = i / pieces_a_state;
        const float a = s_a[state], b = s_b[state];
        const float largest = fmaxf(a, b);
        const bool nothing = largest == -CUDART_INF_F;
        const bool only_a = !nothing && a - b >= 45.0f;
        const bool only_b = !nothing && b - a >= 45.0f;
        const float weight_a = nothing ? 0.0f : exp2f(a - largest);
        const float weight_b = nothing ? 0.0f : exp2f(b - largest);
        const float sum = weight_a + weight_b;
        if (VECTORS) {
            vec8 p, q;
            p.bits = make_uint4(0, 0, 0, 0);
            if (!nothing)
                p.bits = reinterpret_cast<const uint4 *>(only_b ? v_b : v_a)[i];
            if (!nothing && !only_a && !only_b) {
                q.bits = reinterpret_cast<const uint4 *>(v_b)[i];
#pragma unroll
                for (int k = 0; k < VEC / 2; k++) {
                    const float2 x = __half22float2(p.pair[k]), y = __half22float2(q.pair[k]);
                    p.pair[k] = __floats2half2_rn((x.x * weight_a + y.x * weight_b) / sum,
                                                  (x.y * weight_a + y.y * weight_b) / sum);
                }
            }
            reinterpret_cast<uint4 *>(v)[i] = p.bits;
        } else {
            __half result = __float2half(0.0f);
            if (only_a)
                result = v_a[i];
            else if (only_b)
                result = v_b[i];
            else if (!nothing)
                result = __float2half((__half2float(v_a[i]) * weight_a + __half2float(v_b[i]) * weight_b) / sum);
            v[i] = result;
        }
        if (i == state * pieces_a_state)
            s[state] = largest + log2f(sum);
    }
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const int64_t total = (int64_t)tokens * heads * dim;
    const bool vectors = dim % VEC == 0 && ((uintptr_t)v_a | (uintptr_t)v_b | (uintptr_t)v) % 16 == 0;
    const int64_t pieces = vectors ? total / VEC : total;
    const int64_t wanted = (pieces + 255) / 256;
    const unsigned blocks = wanted < (1 << 22) ? (unsigned)wanted : 1u << 22;
    if (vectors)
        merge_kernel<true><<<blocks, 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pieces, dim / VEC);
    else
        merge_kernel<false><<<blocks, 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, pieces, dim);
}
