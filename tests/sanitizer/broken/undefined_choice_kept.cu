// A branch that a compiler makes of ?: chooses by a value that nobody wrote; what was chosen, a constant, is used.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
__device__ float sign(float x)
{
    float y;
    asm("{.reg .pred less; setp.lt.f32 less, %1, 0f00000000; mov.f32 %0, 0fBF800000; @less bra chosen;\n"
        "mov.f32 %0, 0f3F800000;\n"
        "chosen: }"
        : "=f"(y) : "f"(x));
    return y;
}

extern "C" __global__ void kernel(float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    out[t] = 0;
    if (t == 64)
        s[0] = 1;
    __syncthreads();
    if (sign(((volatile float *)s)[t]) > 0) // expect: unsafe uninitialised
        out[t] = __expf(out[t]);
}
