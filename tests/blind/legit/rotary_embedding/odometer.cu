// right: blocks stay; a thread's place (token, head, pair) goes on like an odometer, by the digits of the stride, so that nothing is divided in the loop; one, two or four pairs at a time.
#include <cstdint>
#include <cuda_fp16.h>

template <typename T, int N> struct alignas(sizeof(T) * N) Pack {
    T at[N];
};

template <int W>
__global__ void __launch_bounds__(128) rotary_embedding_kernel(__half *x, const float *__restrict__ cosine, const float *__restrict__ sine,
                                                               int64_t units, int heads, int half_dim)
{
    const int per = half_dim / W; // units of a head
    const int64_t stride = (int64_t)gridDim.x * 128;
    int64_t u = (int64_t)blockIdx.x * 128 + threadIdx.x;
    int64_t row = u / per, token = row / heads;
    int i = (int)(u % per), head = (int)(row % heads);
    const int64_t up_rows = stride / per, up_tokens = up_rows / heads;
    const int up_i = (int)(stride % per), up_heads = (int)(up_rows % heads);
    for (; u < units; u += stride) {
        Pack<__half, W> *first = reinterpret_cast<Pack<__half, W> *>(x + row * 2 * half_dim) + i, *second = first + per;
        const Pack<float, W> c = reinterpret_cast<const Pack<float, W> *>(cosine + token * half_dim)[i];
        const Pack<float, W> s = reinterpret_cast<const Pack<float, W> *>(sine + token * half_dim)[i];
        Pack<__half, W> a = *first, b = *second;
#pragma unroll
        for (int k = 0; k < W; k++) {
            float p = __half2float(a.at[k]), q = __half2float(b.at[k]);
            a.at[k] = __float2half(p * c.at[k] - q * s.at[k]);
            b.at[k] = __float2half(q * c.at[k] + p * s.at[k]);
        }
        *first = a;
        *second = b;
        int carry = 0;
        if ((i += up_i) >= per) {
            i -= per;
            carry = 1;
        }
        row += up_rows + carry;
        token += up_tokens;
        if ((head += up_heads + carry) >= heads) {
            head -= heads;
            token++;
        }
    }
}

template <int W>
static void go(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int64_t units = (int64_t)tokens * heads * (half_dim / W), blocks = (units + 127) / 128;
    unsigned grid = blocks < 132 * 16 ? (unsigned)blocks : 132 * 16;
    rotary_embedding_kernel<W><<<grid, 128, 0, stream>>>(x, cosine, sine, units, heads, half_dim);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    if (half_dim % 4 == 0)
        go<4>(x, cosine, sine, tokens, heads, half_dim, stream);
    else if (half_dim % 2 == 0)
        go<2>(x, cosine, sine, tokens, heads, half_dim, stream);
    else
        go<1>(x, cosine, sine, tokens, heads, half_dim, stream);
}
