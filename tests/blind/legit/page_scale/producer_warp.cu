// Warp-specialised: one warp fetches pages by bulk copies into a ring of three and stores them by bulk copies, the others double them; full and done barriers with the lap's parity, fences towards the async proxy.
#include <cstdint>

constexpr int STAGES = 3, WORKERS = 128, PAGE = 4096;

__device__ __forceinline__ unsigned at(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void wait(uint64_t *bar, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}

__global__ void __launch_bounds__(WORKERS + 32) scale_kernel(float *out, const float *in, int pages)
{
    extern __shared__ __align__(128) float ring[];
    __shared__ __align__(8) uint64_t full[STAGES], done[STAGES];
    const int mine = (pages - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(full + s)) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(done + s)), "r"(WORKERS) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= WORKERS) {
        if (threadIdx.x == WORKERS) {
            auto fetch = [&](int k) {
                int s = k % STAGES;
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(full + s)), "r"(PAGE * 4) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(ring + s * PAGE)), "l"(in + ((int64_t)blockIdx.x + (int64_t)k * gridDim.x) * PAGE), "r"(PAGE * 4), "r"(at(full + s)) : "memory");
            };
            for (int k = 0; k < STAGES && k < mine; k++)
                fetch(k);
            for (int k = 0; k < mine; k++) {
                int s = k % STAGES;
                wait(done + s, k / STAGES & 1);
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + ((int64_t)blockIdx.x + (int64_t)k * gridDim.x) * PAGE), "r"(at(ring + s * PAGE)), "r"(PAGE * 4) : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                if (k + STAGES < mine) {
                    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                    fetch(k + STAGES);
                }
            }
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        return;
    }
    for (int k = 0; k < mine; k++) {
        int s = k % STAGES;
        wait(full + s, k / STAGES & 1);
        float4 *page = reinterpret_cast<float4 *>(ring + s * PAGE);
#pragma unroll
        for (int j = 0; j < PAGE / 4; j += WORKERS) {
            float4 v = page[j + threadIdx.x];
            page[j + threadIdx.x] = make_float4(2.0f * v.x, 2.0f * v.y, 2.0f * v.z, 2.0f * v.w);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(done + s)) : "memory");
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    const int pages = n / PAGE, bytes = STAGES * PAGE * 4;
    cudaFuncSetAttribute(scale_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    scale_kernel<<<pages < 528 ? pages : 528, WORKERS + 32, bytes, stream>>>(out, in, pages);
}
