// expect: correct
// Values and bounds lie within promised ranges: a block counts the bounds by value, a scan of the counts is the answer of every value there can be.
constexpr int THREADS = 1024, LOW = -1024, SIZE = 2048;

__global__ void __launch_bounds__(THREADS) bucketize_kernel(int *out, const int *values, const int *bounds, int n, int m)
{
    __shared__ int below[SIZE], part[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    below[t] = below[t + THREADS] = 0;
    __syncthreads();
    for (int i = t; i < m; i += THREADS)
        atomicAdd(&below[bounds[i] - LOW], 1);
    __syncthreads();
    int a = below[2 * t], b = below[2 * t + 1], sum = a + b;
    for (int s = 1; s < 32; s *= 2) {
        int left = __shfl_up_sync(~0u, sum, s);
        sum += lane >= s ? left : 0;
    }
    if (lane == 31)
        part[warp] = sum;
    __syncthreads();
    int before = sum - a - b;
    for (int i = 0; i < warp; i++)
        before += part[i];
    below[2 * t] = before; // how many bounds are less
    below[2 * t + 1] = before + a;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        out[i] = below[values[i] - LOW];
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    int blocks = (n + THREADS - 1) / THREADS;
    bucketize_kernel<<<blocks < 264 ? blocks : 264, THREADS, 0, stream>>>(out, values, bounds, n, m);
}
