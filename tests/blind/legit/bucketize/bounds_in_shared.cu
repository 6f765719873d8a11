// Bounds that fit are searched in shared memory, without branches; longer ones where they are.
template <bool SHARED>
__global__ void bucketize_kernel(int *__restrict__ out, const int *__restrict__ values, const int *__restrict__ bounds,
                                 int n, int m, int top)
{
    extern __shared__ int kept[];
    if (SHARED) {
        for (int k = threadIdx.x; k < m; k += blockDim.x)
            kept[k] = bounds[k];
        __syncthreads();
    }
    const int *b = SHARED ? kept : bounds;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (unsigned)n; i += gridDim.x * blockDim.x) {
        const int v = values[i];
        int at = 0;
        for (int step = top; step > 0; step >>= 1)
            at += at + step <= m && b[at + step - 1] < v ? step : 0;
        out[i] = at;
    }
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    int top = 1, blocks = (n + 255) / 256;
    while (top <= m / 2)
        top *= 2;
    blocks = blocks > 1056 ? 1056 : blocks;
    if (m <= 8192)
        bucketize_kernel<true><<<blocks, 256, m * sizeof(int), stream>>>(out, values, bounds, n, m, top);
    else
        bucketize_kernel<false><<<blocks, 256, 0, stream>>>(out, values, bounds, n, m, top);
}
