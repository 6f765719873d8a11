// The tile is written again while the bulk copy may still read it.
// buffer: out f32 256 out
// launch: kernel grid 1 block 64 args out 4
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "r"(bytes) \
                 : "memory");                                                                                          \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory")

extern "C" __global__ void kernel(float *out, int n)
{
    __shared__ alignas(16) float s[64];
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        s[t] = t + 64 * k; // expect: unsafe race-shared
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            STORE(out + k * 64, s, 256);
        }
        __syncthreads();
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
