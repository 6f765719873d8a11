// Each thread waits for its own copies, but reads those of others without a barrier.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(float4 *out, const float4 *in)
{
    __shared__ float4 s[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x) : "memory"); // expect: unsafe race-shared
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x]; // expect: unsafe race-shared
}
