// Long chains of products and of variables end in reasonable time.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a0 = d;
    int a1 = a0 * a0 + a0;
    int a2 = a1 * a1 + a1;
    int a3 = a2 * a2 + a2;
    int a4 = a3 * a3 + a3;
    int a5 = a4 * a4 + a4;
    int a6 = a5 * a5 + a5;
    int a7 = a6 * a6 + a6;
    int a8 = a7 * a7 + a7;
    int a9 = a8 * a8 + a8;
    int a10 = a9 * a9 + a9;
    int a11 = a10 * a10 + a10;
    int a12 = a11 * a11 + a11;
    int a13 = a12 * a12 + a12;
    int a14 = a13 * a13 + a13;
    int a15 = a14 * a14 + a14;
    int a16 = a15 * a15 + a15;
    int a17 = a16 * a16 + a16;
    int a18 = a17 * a17 + a17;
    int a19 = a18 * a18 + a18;
    int a20 = a19 * a19 + a19;
    int a21 = a20 * a20 + a20;
    int a22 = a21 * a21 + a21;
    int a23 = a22 * a22 + a22;
    int a24 = a23 * a23 + a23;
    out[i + d * d * d * d * d * d * d * d * d * d * d * d * a24 + 1] = in[a24 * i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
