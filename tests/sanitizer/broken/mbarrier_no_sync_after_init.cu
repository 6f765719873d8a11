// A flag tells the other warp that the mbarrier is initialised, but no fence stands before it.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(bar)) : "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ unsigned long long bar;
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t == 0) {
        init(&bar, 64);
        ready = 1;
    }
    if (t < 32)
        __syncwarp();
    else
        while (!ready) {
        }
    ARRIVE(&bar); // expect: unsafe race-shared
    out[t] = t;
}
