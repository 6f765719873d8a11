// The mbarrier is told of the cp.async copies, but nobody waits for it.
// buffer: out f32 256 out
// buffer: in f32 1024 in
// launch: kernel grid 1 block 64 args out in
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place(&s[t])), "l"(in + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(place(&bar)) : "memory");
    __syncthreads();
    out[t] = s[63 - t]; // expect: unsafe race-shared
}
