// WRONG: sums in two floats, the small one added up in float: 2^-47 of the sum of sizes where double has 2^-53; a row of 1e8s that cancel but for 1e-6.
__device__ void add(float &high, float &low, float x)
{
    float s = high + x, b = s - high;
    low += (high - (s - b)) + (x - b);
    high = s;
}

__global__ void sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = in + (long long)row * d;
    float high = 0.f, low = 0.f;
    for (int i = lane; i < d; i += 32)
        add(high, low, x[i]);
    for (int s = 16; s; s >>= 1) {
        float h = __shfl_xor_sync(~0u, high, s), l = __shfl_xor_sync(~0u, low, s);
        add(high, low, h);
        low += l;
    }
    if (lane == 0)
        out[row] = high + low;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    sum_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, in, rows, d);
}
