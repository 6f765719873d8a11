// Values are promised to lie within -1000 and 1000: the bounds are counted by value, the counts summed up, and each value looks its answer up.
constexpr int LOW = -1024, COUNTS = 2048;

__global__ void __launch_bounds__(1024) count_kernel(int *below, const int *bounds, int m)
{
    __shared__ int count[COUNTS], warp_sums[32];
    for (int i = threadIdx.x; i < COUNTS; i += 1024)
        count[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += 1024)
        atomicAdd(count + min(max(bounds[i] - LOW, 0), COUNTS - 1), 1);
    __syncthreads();
    int a = count[2 * threadIdx.x], b = count[2 * threadIdx.x + 1], lane = threadIdx.x % 32, sum = a + b;
    for (int o = 1; o < 32; o <<= 1) {
        int other = __shfl_up_sync(~0u, sum, o);
        if (lane >= o)
            sum += other;
    }
    if (lane == 31)
        warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        int s = warp_sums[lane];
        for (int o = 1; o < 32; o <<= 1) {
            int other = __shfl_up_sync(~0u, s, o);
            if (lane >= o)
                s += other;
        }
        warp_sums[lane] = s;
    }
    __syncthreads();
    int before = sum - a - b + (threadIdx.x >= 32 ? warp_sums[threadIdx.x / 32 - 1] : 0);
    below[2 * threadIdx.x] = before;
    below[2 * threadIdx.x + 1] = before + a;
}

__global__ void __launch_bounds__(256) look_kernel(int *out, const int *values, const int *below, int n)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        out[i] = below[min(max(values[i] - LOW, 0), COUNTS - 1)];
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    void *below = nullptr;
    cudaMallocAsync(&below, COUNTS * sizeof(int), stream);
    count_kernel<<<1, 1024, 0, stream>>>(static_cast<int *>(below), bounds, m);
    const int blocks = (n + 255) / 256;
    look_kernel<<<blocks > 264 ? 264 : blocks, 256, 0, stream>>>(out, values, static_cast<const int *>(below), n);
    cudaFreeAsync(below, stream);
}
