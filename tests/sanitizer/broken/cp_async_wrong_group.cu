// Two stages in flight; waiting for all but two waits for neither.
// buffer: out f32 128 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(float4 *out, const float4 *in)
{
    __shared__ float4 s[2][32];
    for (int k = 0; k < 2; k++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[k][threadIdx.x]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + k * 32 + threadIdx.x) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[0][31 - threadIdx.x]; // expect: unsafe race-shared
    asm volatile("cp.async.wait_all;" ::: "memory");
}
