// A block arrives at its neighbour's mbarrier before anything has shown that the neighbour has begun.
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

#define ARRIVE(bar) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, next = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    unsigned there = place(&bar);
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(next));
    ARRIVE(there); // expect: unsafe early-access
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(place(&bar))
                 : "memory");
    out[blockIdx.x * 64 + t] = t;
}
