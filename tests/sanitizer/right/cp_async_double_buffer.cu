// Two stages in flight; each is waited for, fenced by a barrier, and used again after another.
// buffer: out f32 1024 out
// buffer: in f32 1024 in
// launch: kernel grid 1 block 64 args out in 4
__device__ void stage(float4 *to, const float4 *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void kernel(float4 *out, const float4 *in, int n)
{
    __shared__ float4 s[2][64];
    int t = threadIdx.x;
    stage(&s[0][t], in + t);
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) {
            stage(&s[(k + 1) & 1][t], in + (k + 1) * 64 + t);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        out[k * 64 + t] = s[k & 1][63 - t];
        __syncthreads();
    }
}
