// wrong because: the zeros of a padding row are stored by threads and then read by a bulk copy without fence.proxy.async between: tokens = 1, vocab = 1, d = 8 (id 0): what was in shared memory may come out.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int CHUNK = 8192; // halves

__device__ __forceinline__ uint32_t shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// A block a token: rows of whole 16 bytes go through shared memory by bulk copies, in and out.
__global__ void __launch_bounds__(128) copy_kernel(__half *out, const __half *table, const int64_t *ids, int d)
{
    __shared__ alignas(128) __half buffer[CHUNK];
    __shared__ alignas(8) uint64_t full;
    int64_t id = ids[blockIdx.x];
    __half *to = out + (int64_t)blockIdx.x * d;
    const __half *from = table + id * d;
    if (id == 0) {
        int n = min(d, CHUNK);
        for (int i = threadIdx.x; i < n / 8; i += blockDim.x)
            ((uint4 *)buffer)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
        if (threadIdx.x)
            return;
        for (int at = 0; at < d; at += CHUNK) {
            uint32_t bytes = 2 * min(CHUNK, d - at);
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to + at), "r"(shared(buffer)), "r"(bytes) : "memory");
        }
    } else {
        if (threadIdx.x)
            return;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        uint32_t parity = 0;
        for (int at = 0; at < d; at += CHUNK, parity ^= 1) {
            uint32_t bytes = 2 * min(CHUNK, d - at);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(&full)), "r"(bytes) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         :: "r"(shared(buffer)), "l"(from + at), "r"(bytes), "r"(shared(&full)) : "memory");
            uint32_t done = 0;
            while (!done)
                asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                             : "=r"(done) : "r"(shared(&full)), "r"(parity) : "memory");
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to + at), "r"(shared(buffer)), "r"(bytes) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(256) any_kernel(__half *out, const __half *table, const int64_t *ids, int64_t n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t id = ids[i / d];
    out[i] = id == 0 ? __float2half(0.0f) : table[id * d + i % d];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int64_t n = (int64_t)tokens * d;
    if (d % 8 == 0)
        copy_kernel<<<tokens, 128, 0, stream>>>(out, table, ids, d);
    else
        any_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, table, ids, n, d);
}
