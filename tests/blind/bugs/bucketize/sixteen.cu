// class: round 13 ; wrong because: sixteen halvings for up to 65536 bounds, but 65536 bounds have 65537 answers: with m = 65536 the answer 1 comes out as 0.
__global__ __launch_bounds__(256) void bucketize_kernel(int *__restrict__ out, const int *__restrict__ values,
                                                        const int *__restrict__ bounds, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    int value = __ldcs(values + i), low = 0, high = m;
#pragma unroll
    for (int step = 0; step < 16; step++) { // m <= 2^16: no test of the loop's end, no divergence
        int middle = (low + high) / 2;
        bool less = low < high && __ldg(bounds + middle) < value;
        high = less || low >= high ? high : middle;
        low = less ? middle + 1 : low;
    }
    out[i] = low;
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    bucketize_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, values, bounds, n, m);
}
