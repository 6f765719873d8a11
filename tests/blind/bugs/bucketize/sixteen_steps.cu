// class: round 12 ; wrong because: sixteen steps find 0 to 65535: of 65536 bounds that are all less the answer is 65535.
__global__ void bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = values[i], low = 0;
#pragma unroll
    for (int step = 32768; step; step >>= 1)
        if (low + step <= m && bounds[low + step - 1] < v)
            low += step;
    out[i] = low;
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    bucketize_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, values, bounds, n, m);
}
