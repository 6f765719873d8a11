// Block 0 of each cluster fetches a tile for all four; each waits for its own mbarrier.
// buffer: out f32 512 out
// buffer: in f32 256 in
// launch: kernel grid 8 block 64 cluster 4 args out in 2
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

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ alignas(128) float s[2][64];
    __shared__ unsigned long long bar[2];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < n; k++) {
            init(&bar[k], 1);
            expect(&bar[k], 256);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0)
        for (int k = 0; k < n; k++)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, "
                         "[%2], %3;" ::"r"(place(s[k])),
                         "l"(in + (blockIdx.x / 4 * 2 + k) * 64), "r"(place(&bar[k])), "h"((short)0xf)
                         : "memory");
    float sum = 0;
    for (int k = 0; k < n; k++) {
        WAIT(&bar[k], 0);
        sum += s[k][t] * (cluster.block_rank() + 1);
    }
    out[blockIdx.x * 64 + t] = sum;
}
