// class: round 12 ; wrong because: twice a number is its exponent plus one, but of subnormal ones.
__global__ void scale_kernel(uint4 *out, const uint4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 v = in[i];
    unsigned *w = &v.x;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if ((w[k] & 0x7fffffffu) != 0 && (w[k] & 0x7f800000u) != 0x7f800000u)
            w[k] += 0x00800000u;
    out[i] = v;
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<(n / 4 + 255) / 256, 256, 0, stream>>>((uint4 *)out, (const uint4 *)in, n / 4);
}
