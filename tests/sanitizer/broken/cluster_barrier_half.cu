// One block of the cluster waits for an mbarrier that only the other could complete, which waits for the first.
// buffer: out f32 128 out
// launch: kernel grid 2 block 64 cluster 2 args out
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

extern "C" __global__ void kernel(float *out)
{
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 1);
    cluster.sync();
    if (cluster.block_rank() == 0)
        WAIT(&bar, 0); // expect: hung deadlock
    cluster.sync();
    out[blockIdx.x * 64 + t] = t;
}
