// A branch that a compiler makes of ?: in lanes whose value nobody wrote, and whose result is thrown away.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in 20
__device__ float inverse(float x)
{
    float y;
    asm("{.reg .pred zero; setp.equ.f32 zero, %1, 0f00000000; mov.f32 %0, 0f00000000; @zero bra chosen;\n"
        "rcp.approx.ftz.f32 %0, %1;\n"
        "chosen: }"
        : "=f"(y) : "f"(x));
    return y;
}

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n)
        s[t] = in[t];
    __syncthreads();
    float y = inverse(((volatile float *)s)[t]);
    out[t] = t < n ? y : -1;
}
