// expect: correct
// A pointer to the kernel that the launcher chooses.
__global__ void general(float *out, const float *in, int d)
{
    const float *x = in + (size_t)blockIdx.x * d;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < d; i += 32)
        m = max(m, x[i]);
    for (int o = 16; o; o >>= 1)
        m = max(m, __shfl_xor_sync(0xffffffff, m, o));
    for (int i = threadIdx.x; i < d; i += 32)
        s += exp(x[i] - m);
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, o);
    for (int i = threadIdx.x; i < d; i += 32)
        out[(size_t)blockIdx.x * d + i] = exp(x[i] - m) / s;
}
extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    void (*k)(float *, const float *, int) = nullptr;
    if (d > 0)
        k = general;
    if (k != nullptr)
        k<<<rows, 32, 0, stream>>>(out, in, d);
}
