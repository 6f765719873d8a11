// expect: wrong
// row 10: Sums in two floats, in the place of double: they overflow where numbers of both signs lie at float's edge.
__device__ void add(float &s, float &e, float x)
{
    float t = __fadd_rn(s, x);
    float z = __fsub_rn(t, s);
    e = __fadd_rn(e, __fadd_rn(__fsub_rn(s, __fsub_rn(t, z)), __fsub_rn(x, z)));
    s = t;
}

__global__ void __launch_bounds__(256) double_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float s = 0, e = 0;
    for (int i = lane; i < d; i += 32)
        add(s, e, in[(long long)row * d + i]);
    for (int k = 16; k; k >>= 1) {
        float os = __shfl_xor_sync(~0u, s, k), oe = __shfl_xor_sync(~0u, e, k);
        add(s, e, os);
        e += oe;
    }
    if (lane == 0)
        out[row] = isinf(s) ? s : s + e;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    double_sum_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, in, rows, d);
}
