// expect: correct
// Pairs of bf16.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
using bf16 = __nv_bfloat16;
using bf162 = __nv_bfloat162;
template <int N> struct alignas(N * sizeof(bf162)) pack { bf162 v[N]; };
__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }
__global__ void __launch_bounds__(256) wide(bf16 *__restrict__ out, const bf16 *__restrict__ in, int d)
{
    using P = pack<4>;
    const int i = (blockIdx.y * 256 + threadIdx.x) * 8;
    if (i >= d) return;
    const int64_t row = blockIdx.x;
    const P a = *reinterpret_cast<const P *>(in + row * 2 * d + i);
    const P b = *reinterpret_cast<const P *>(in + row * 2 * d + d + i);
    P r;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 x = __bfloat1622float2(a.v[k]), g = __bfloat1622float2(b.v[k]);
        r.v[k] = __floats2bfloat162_rn(silu(x.x) * g.x, silu(x.y) * g.y);
    }
    *reinterpret_cast<P *>(out + row * d + i) = r;
}
__global__ void narrow(bf16 *__restrict__ out, const bf16 *__restrict__ in, int d)
{
    const int64_t row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row * d + i] = __float2bfloat16(silu(static_cast<float>(in[row * 2 * d + i])) * float(in[row * 2 * d + d + i]));
}
extern "C" void silu_and_mul(bf16 *out, const bf16 *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0 && d <= 65535 * 2048)
        wide<<<dim3(rows, (d / 8 + 255) / 256), 256, 0, stream>>>(out, in, d);
    else
        narrow<<<rows, 256, 0, stream>>>(out, in, d);
}
