// The copy into shared memory is committed, but not waited for.
// buffer: out f32 128 out
// buffer: in f32 128 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(float4 *out, const float4 *in)
{
    __shared__ float4 s[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x]; // expect: unsafe race-shared
}
