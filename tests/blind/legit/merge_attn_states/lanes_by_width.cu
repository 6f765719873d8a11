// right: as many lanes a head as its width needs (1 to 32), eight halves a lane where dim allows, a side's row not read at all where its weight is exactly zero; blocks stay and walk over the heads.
#include <cstdint>
#include <cuda_fp16.h>
#include <math_constants.h>

struct Weights {
    float a, b, inverse, score;
    __device__ Weights(float x, float y)
    {
        float largest = fmaxf(x, y);
        bool none = largest == -CUDART_INF_F;
        a = none ? 0.0f : exp2f(x - largest);
        b = none ? 0.0f : exp2f(y - largest);
        float sum = a + b;
        inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        score = largest + log2f(sum);
    }
    __device__ float operator()(float x, float y) const { return inverse > 0.0f ? (x * a + y * b) * inverse : 0.0f; }
};

template <int LANES, bool WIDE>
__global__ void __launch_bounds__(256) merge_kernel(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                                                    const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, int64_t rows, int dim)
{
    const int lane = threadIdx.x % LANES;
    const int64_t stride = (int64_t)gridDim.x * (256 / LANES);
    for (int64_t row = (int64_t)blockIdx.x * (256 / LANES) + threadIdx.x / LANES; row < rows; row += stride) {
        const Weights w(s_a[row], s_b[row]);
        if (lane == 0)
            s[row] = w.score;
        const int64_t at = row * dim;
        if (WIDE) {
            for (int i = lane * 8; i < dim; i += LANES * 8) {
                uint4 x = make_uint4(0, 0, 0, 0), y = x, z;
                if (w.a != 0.0f)
                    x = *reinterpret_cast<const uint4 *>(v_a + at + i);
                if (w.b != 0.0f)
                    y = *reinterpret_cast<const uint4 *>(v_b + at + i);
                const __half2 *p = reinterpret_cast<const __half2 *>(&x), *q = reinterpret_cast<const __half2 *>(&y);
                __half2 *r = reinterpret_cast<__half2 *>(&z);
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float2 f = __half22float2(p[k]), g = __half22float2(q[k]);
                    r[k] = __floats2half2_rn(w(f.x, g.x), w(f.y, g.y));
                }
                *reinterpret_cast<uint4 *>(v + at + i) = z;
            }
        } else
            for (int i = lane; i < dim; i += LANES)
                v[at + i] = __float2half(w(__half2float(v_a[at + i]), __half2float(v_b[at + i])));
    }
}

#define GO(LANES, WIDE)                                                                                                \
    merge_kernel<LANES, WIDE><<<blocks(rows, 256 / LANES), 256, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, rows, dim)

static unsigned blocks(int64_t rows, int per)
{
    int64_t n = (rows + per - 1) / per;
    return n < 132 * 8 ? (unsigned)n : 132 * 8;
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b,
                                  __half *v, float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    int64_t rows = (int64_t)tokens * heads;
    if (dim % 8 == 0) {
        if (dim >= 256)
            GO(32, true);
        else if (dim >= 128)
            GO(16, true);
        else if (dim >= 64)
            GO(8, true);
        else
            GO(1, true);
    } else if (dim >= 32)
        GO(32, false);
    else if (dim >= 8)
        GO(8, false);
    else
        GO(1, false);
}
