__global__ void bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bounds[middle] < values[i])
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    bucketize_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, values, bounds, n, m);
}
