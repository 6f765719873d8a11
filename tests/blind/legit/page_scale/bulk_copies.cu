// Whole pages of 4096 floats by bulk copies (TMA) into two shared buffers with an mbarrier each, doubled in place, and out again by bulk copies; n is a multiple of a page, so there is no tail.
#include <cstdint>

constexpr int PAGE = 4096; // floats
constexpr unsigned PAGE_BYTES = PAGE * 4;
constexpr int THREADS = 256;

__device__ __forceinline__ void bulk_load(unsigned to, const float *from, unsigned barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(PAGE_BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(PAGE_BYTES), "r"(barrier)
                 : "memory");
}

__device__ __forceinline__ void bulk_store(float *to, unsigned from)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(PAGE_BYTES)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

__global__ void __launch_bounds__(THREADS) scale_pages(float *out, const float *in, int pages)
{
    __shared__ alignas(128) float buffer[2][PAGE];
    __shared__ alignas(8) uint64_t full[2];
    const unsigned to[2] = {(unsigned)__cvta_generic_to_shared(buffer[0]), (unsigned)__cvta_generic_to_shared(buffer[1])};
    const unsigned bar[2] = {(unsigned)__cvta_generic_to_shared(&full[0]), (unsigned)__cvta_generic_to_shared(&full[1])};

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar[0]) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar[1]) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();

    const int step = gridDim.x;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            const int page = blockIdx.x + s * step;
            if (page < pages)
                bulk_load(to[s], in + (int64_t)page * PAGE, bar[s]);
        }

    int turn = 0;
    for (int page = blockIdx.x; page < pages; page += step, turn++) {
        const int s = turn & 1;
        wait_for(bar[s], (turn >> 1) & 1);
        float4 *data = reinterpret_cast<float4 *>(buffer[s]);
#pragma unroll
        for (int i = 0; i < PAGE / 4 / THREADS; i++) {
            float4 v = data[i * THREADS + threadIdx.x];
            v.x *= 2.0f;
            v.y *= 2.0f;
            v.z *= 2.0f;
            v.w *= 2.0f;
            data[i * THREADS + threadIdx.x] = v;
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // what was written, for the bulk copy
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_store(out + (int64_t)page * PAGE, to[s]);
            const int next = page + 2 * step;
            if (next < pages) {
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the buffer is free again
                bulk_load(to[s], in + (int64_t)next * PAGE, bar[s]);
            }
        }
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    const int pages = n / PAGE;
    const int blocks = pages < 132 * 6 ? pages : 132 * 6;
    scale_pages<<<blocks, THREADS, 0, stream>>>(out, in, pages);
}
