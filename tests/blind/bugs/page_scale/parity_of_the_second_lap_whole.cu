// expect: unsafe
// row 15: A ring of four pages whose parity is that of the page, not of the lap: from 17 million elements on.
#include <cstdint>

__device__ __forceinline__ unsigned shared_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void wait(uint64_t *bar, unsigned parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(shared_of(bar)), "r"(parity) : "memory");
}

__device__ __forceinline__ void fetch(float *page, uint64_t *bar, const float *from)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_of(bar)), "r"(16384) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(page)), "l"(from), "r"(16384), "r"(shared_of(bar)) : "memory");
}

__global__ void __launch_bounds__(256) scale_kernel(float *out, const float *in, int pages)
{
    extern __shared__ __align__(128) float ring[];
    __shared__ __align__(8) uint64_t full[4];
    const int mine = (pages - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(full + s)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (int k = 0; k < 4 && k < mine; k++)
            fetch(ring + k * 4096, full + k, in + ((int64_t)blockIdx.x + (int64_t)k * gridDim.x) * 4096);
    }
    __syncthreads();
    for (int k = 0; k < mine; k++) {
        int stage = k & 3;
        wait(full + stage, k >> 3 & 1);
        const float4 *page = reinterpret_cast<const float4 *>(ring + stage * 4096);
        float4 *to = reinterpret_cast<float4 *>(out + ((int64_t)blockIdx.x + (int64_t)k * gridDim.x) * 4096);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float4 v = page[threadIdx.x + j * 256];
            v.x *= 2.0f; v.y *= 2.0f; v.z *= 2.0f; v.w *= 2.0f;
            __stcs(to + threadIdx.x + j * 256, v);
        }
        __syncthreads();
        if (threadIdx.x == 0 && k + 4 < mine)
            fetch(ring + stage * 4096, full + stage, in + ((int64_t)blockIdx.x + (int64_t)(k + 4) * gridDim.x) * 4096);
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    int pages = n / 4096;
    cudaFuncSetAttribute(scale_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    scale_kernel<<<pages < 1056 ? pages : 1056, 256, 65536, stream>>>(out, in, pages);
}
