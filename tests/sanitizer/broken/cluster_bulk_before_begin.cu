// A tile goes in bulk into the shared memory of a block that may not have begun: only the own block is waited for.
// buffer: out f32 256 out
// launch: kernel grid 4 block 64 cluster 4 args out
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

__device__ void expect(unsigned long long *bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(bytes) : "memory");
}

#define WAIT(bar, parity)                                                                                              \
    asm volatile("{\n"                                                                                                 \
                 ".reg .pred p;\n"                                                                                     \
                 "again:\n"                                                                                            \
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"                                             \
                 "@p bra done;\n"                                                                                      \
                 "bra again;\n"                                                                                        \
                 "done:\n"                                                                                             \
                 "}" ::"r"(place(bar)),                                                                                \
                 "r"(parity)                                                                                           \
                 : "memory")

#define COPY(to, from, bar)                                                                                            \
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::    \
                     "r"(to), "r"(from), "r"(bar)                                                                      \
                 : "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ alignas(128) float s[2][64];
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank(), n = cluster.num_blocks();
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 256);
    }
    s[0][t] = rank * 64 + t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        int next = (rank + 1) % n;
        unsigned to = place(s[1]), there = place(&bar);
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(to) : "r"(next));
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(next));
        COPY(to, place(s[0]), there); // expect: unsafe early-access
    }
    WAIT(&bar, 0);
    out[blockIdx.x * 64 + t] = s[1][t];
    cluster.sync();
}
