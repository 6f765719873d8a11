// 8, 2 or 1 elements a thread by what divides dim, on a capped grid with a 64-bit stride; both sides -inf gives v = 0 and s = -inf as in the original.
#include <cstdint>
#include <cuda_fp16.h>

template <int N> struct alignas(2 * N) Halves {
    __half value[N];
};

struct Params {
    const __half *v_a;
    const float *s_a;
    const __half *v_b;
    const float *s_b;
    __half *v;
    float *s;
    int64_t vectors; // of N elements, in all
    int per_row;     // of N elements, in a head
};

template <int N> __global__ void __launch_bounds__(256) merge_kernel(const Params p)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.vectors; i += stride) {
        // A 32-bit division is enough almost always.
        int64_t row;
        int column;
        if (i <= 0x7fffffff) {
            row = (unsigned)i / (unsigned)p.per_row;
            column = (int)((unsigned)i % (unsigned)p.per_row);
        } else {
            row = i / p.per_row;
            column = (int)(i % p.per_row);
        }
        const float a = __ldg(p.s_a + row), b = __ldg(p.s_b + row);
        const float largest = fmaxf(a, b);
        const bool none = largest == -__int_as_float(0x7f800000);
        const float weight_a = none ? 0.0f : exp2f(a - largest);
        const float weight_b = none ? 0.0f : exp2f(b - largest);
        const float sum = weight_a + weight_b;
        const float inverse = none ? 0.0f : 1.0f / sum; // the sum is from 1 to 2

        const Halves<N> va = reinterpret_cast<const Halves<N> *>(p.v_a)[i];
        const Halves<N> vb = reinterpret_cast<const Halves<N> *>(p.v_b)[i];
        Halves<N> merged;
#pragma unroll
        for (int k = 0; k < N; k++)
            merged.value[k] =
                __float2half((__half2float(va.value[k]) * weight_a + __half2float(vb.value[k]) * weight_b) * inverse);
        reinterpret_cast<Halves<N> *>(p.v)[i] = merged;
        if (column == 0)
            p.s[row] = largest + log2f(sum);
    }
}

template <int N> static void run(Params p, int64_t total, int dim, cudaStream_t stream)
{
    p.vectors = total / N;
    p.per_row = dim / N;
    const int64_t blocks = (p.vectors + 255) / 256;
    merge_kernel<N><<<(unsigned)(blocks < 132 * 64 ? blocks : 132 * 64), 256, 0, stream>>>(p);
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                                  float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const int64_t total = (int64_t)tokens * heads * dim;
    Params p = {v_a, s_a, v_b, s_b, v, s, 0, 0};
    if (dim % 8 == 0)
        run<8>(p, total, dim, stream);
    else if (dim % 2 == 0)
        run<2>(p, total, dim, stream);
    else
        run<1>(p, total, dim, stream);
}
