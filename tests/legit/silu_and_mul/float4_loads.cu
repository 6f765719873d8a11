// expect: correct
// Eight halves a load.
#include <cuda_fp16.h>
__device__ __forceinline__ void unpack(const float4 &v, float (&f)[8])
{
    const __half2 *h = reinterpret_cast<const __half2 *>(&v);
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        float2 t = __half22float2(h[i]);
        f[2 * i] = t.x;
        f[2 * i + 1] = t.y;
    }
}
__global__ void silu_vec(__half *__restrict__ out, const __half *__restrict__ in, int d, int vecs)
{
    int row = blockIdx.y;
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const __half *xr = in + static_cast<size_t>(row) * 2 * d;
    __half *orow = out + static_cast<size_t>(row) * d;
    bool wide = (d % 8) == 0;
    if (idx < vecs && wide) {
        float4 xv = __ldcs(reinterpret_cast<const float4 *>(xr) + idx);
        float4 gv = __ldcs(reinterpret_cast<const float4 *>(xr + d) + idx);
        float x[8], g[8];
        unpack(xv, x);
        unpack(gv, g);
        float4 r;
        __half2 *rh = reinterpret_cast<__half2 *>(&r);
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            rh[i] = __floats2half2_rn(x[2 * i] / (1.f + __expf(-x[2 * i])) * g[2 * i],
                                      x[2 * i + 1] / (1.f + __expf(-x[2 * i + 1])) * g[2 * i + 1]);
        __stcs(reinterpret_cast<float4 *>(orow) + idx, r);
    } else if (idx < vecs) {
        int end = min(d, idx * 8 + 8);
        for (int i = idx * 8; i < end; ++i) {
            float x = __half2float(__ldg(xr + i)), g = __half2float(__ldg(xr + d + i));
            __stcs(orow + i, __float2half(x / (1.f + __expf(-x)) * g));
        }
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    const int vecs = (d + 7) / 8;
    const int threads = vecs >= 256 ? 256 : (vecs >= 128 ? 128 : 64);
    const dim3 grid((vecs + threads - 1) / threads, rows);
    silu_vec<<<grid, threads, 0, stream>>>(out, in, d, vecs);
    cudaError_t e = cudaGetLastError();
    (void)e;
}
