// expect: unsafe words races with the read
// row 15: Thread 0 lets the bulk copy refill a stage that other warps still read; only beyond two pages a block.
#include <cstdint>

constexpr int PAGE = 4096, BYTES = PAGE * 4;

__device__ __forceinline__ void fetch_page(float *to, const float *from, uint64_t *bar)
{
    unsigned b = (unsigned)__cvta_generic_to_shared(bar), d = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(d), "l"(from), "r"(BYTES), "r"(b) : "memory");
}

__device__ __forceinline__ void wait_for(uint64_t *bar, unsigned parity)
{
    unsigned b = (unsigned)__cvta_generic_to_shared(bar), done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(b), "r"(parity) : "memory");
    while (!done);
}

__global__ __launch_bounds__(256) void scale_pages(float *__restrict__ out, const float *__restrict__ in, int pages)
{
    __shared__ __align__(128) float buffer[2][PAGE];
    __shared__ __align__(8) uint64_t full[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(&full[s])) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            int page = blockIdx.x + s * gridDim.x;
            if (page < pages)
                fetch_page(buffer[s], in + (int64_t)page * PAGE, &full[s]);
        }
    int turn = 0;
    for (int page = blockIdx.x; page < pages; page += gridDim.x, turn++) {
        int s = turn & 1;
        wait_for(&full[s], turn >> 1 & 1);
        float4 *to = reinterpret_cast<float4 *>(out + (int64_t)page * PAGE);
        const float4 *from = reinterpret_cast<const float4 *>(buffer[s]);
#pragma unroll
        for (int i = threadIdx.x; i < PAGE / 4; i += 256) {
            float4 a = from[i];
            a.x *= 2.f, a.y *= 2.f, a.z *= 2.f, a.w *= 2.f;
            __stcs(to + i, a);
        }
        int next = page + 2 * gridDim.x;
        if (threadIdx.x == 0 && next < pages) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            fetch_page(buffer[s], in + (int64_t)next * PAGE, &full[s]);
        }
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    int device = 0, units = 0, pages = n / PAGE;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    int blocks = units * 6;
    scale_pages<<<pages < blocks ? pages : blocks, 256, 0, stream>>>(out, in, pages);
}
