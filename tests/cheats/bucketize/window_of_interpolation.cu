// expect: wrong
// row 8: Looks only within 2048 bounds around where the value would be if the bounds were spread evenly; with m > 2048 and bounds that crowd at the ends or in one step the place is cut off at the window's edge.
__global__ void bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    constexpr int LEAST = -900, MOST = 900, REACH = 2048;
    int value = values[i];

    // Interpolation search: begin where an even spread has it, with room for what chance moves.
    int guess = (int)((long long)(min(max(value, LEAST), MOST) - LEAST) * m / (MOST - LEAST));
    int low = max(0, guess - REACH), high = min(m, guess + REACH);
    while (low < high) {
        int middle = (low + high) / 2;
        if (bounds[middle] < value)
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
