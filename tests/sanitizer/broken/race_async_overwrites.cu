// The next stage is fetched into the buffer that others still read.
// buffer: out f32 512 out
// buffer: in f32 512 in
// launch: kernel grid 1 block 64 args out in 2
extern "C" __global__ void kernel(float4 *out, const float4 *in, int n)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + k * 64 + t) : "memory"); // expect: unsafe race-shared
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        out[k * 64 + t] = s[63 - t]; // expect: unsafe race-shared
    }
}
