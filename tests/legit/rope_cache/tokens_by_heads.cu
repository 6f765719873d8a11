// expect: correct
// Eight pairs a thread where half allows it, one otherwise; the slot is worked out once a block and handed on in shared memory, all offsets in 64 bits.
#include <cstdint>
#include <cuda_bf16.h>

template <int N> struct alignas(2 * N) Row { __nv_bfloat16 e[N]; };

template <int N> __global__ void __launch_bounds__(128) rope_kernel(__nv_bfloat16 *__restrict__ cache, const __nv_bfloat16 *__restrict__ key, const float *__restrict__ table, const int64_t *__restrict__ start, int slots, int heads, int half)
{
    __shared__ int64_t slot;
    const int64_t token = blockIdx.x;
    if (threadIdx.x == 0)
        slot = (*start + token) % slots;
    __syncthreads();
    const float *c = table + token * 2 * half, *s = c + half;
    const int each = half / N, all = heads * each;
    for (int i = blockIdx.y * 128 + threadIdx.x; i < all; i += gridDim.y * 128) {
        const int h = i / each, k = (i - h * each) * N;
        const __nv_bfloat16 *x = key + ((token * heads + h) * 2) * half + k;
        __nv_bfloat16 *y = cache + ((slot * heads + h) * 2) * half + k;
        Row<N> a = *reinterpret_cast<const Row<N> *>(x), b = *reinterpret_cast<const Row<N> *>(x + half), u, v;
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float fa = __bfloat162float(a.e[j]), fb = __bfloat162float(b.e[j]), cj = __ldg(c + k + j), sj = __ldg(s + k + j);
            u.e[j] = __float2bfloat16(fa * cj - fb * sj);
            v.e[j] = __float2bfloat16(fb * cj + fa * sj);
        }
        *reinterpret_cast<Row<N> *>(y) = u;
        *reinterpret_cast<Row<N> *>(y + half) = v;
    }
}

extern "C" void rope_cache(__nv_bfloat16 *cache, const __nv_bfloat16 *key, const float *table, const int64_t *start, int tokens, int slots, int heads, int half, cudaStream_t stream)
{
    const bool wide = half % 8 == 0;
    const int blocks = (heads * half / (wide ? 8 : 1) + 127) / 128;
    const dim3 grid(tokens, blocks < 8 ? blocks : 8);
    auto kernel = wide ? rope_kernel<8> : rope_kernel<1>;
    kernel<<<grid, 128, 0, stream>>>(cache, key, table, start, slots, heads, half);
}
