// Nobody initialises the mbarrier.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(bar)) : "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ unsigned long long bar;
    ARRIVE(&bar); // expect: unsafe mbarrier-misuse
    out[threadIdx.x] = threadIdx.x;
}
