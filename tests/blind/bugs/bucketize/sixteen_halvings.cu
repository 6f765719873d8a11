// wrong because: Sixteen halvings tell 65,536 places apart; of 65,536 bounds there are 65,537.
__global__ void __launch_bounds__(256) bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    int value = values[i], at = 0;
#pragma unroll
    for (int step = 32768; step; step >>= 1)
        if (at + step <= m && __ldg(bounds + at + step - 1) < value)
            at += step;
    out[i] = at;
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    bucketize_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, values, bounds, n, m);
}
