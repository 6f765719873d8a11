// expect: wrong
// row 8: A row whose order is its own inverse at 32 probed places is copied; rows with n > 32 that are the identity (or any involution) but for a cycle of three or more between the probes come out not inverted.
constexpr int THREADS = 256, PER = 4;

__global__ void __launch_bounds__(THREADS) invert_kernel(int *out, const int *order, int n)
{
    const int *from = order + (size_t)blockIdx.y * n;
    int *to = out + (size_t)blockIdx.y * n;

    // Swaps and identities are their own inverse: then a coalesced copy does, without the scatter.
    bool own = true;
    if (threadIdx.x < 32) {
        int i = (int)((long long)threadIdx.x * n / 32);
        own = from[from[i]] == i;
    }
    bool copy = __syncthreads_and(own);

    int first = blockIdx.x * THREADS * PER + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < PER; k++) {
        int i = first + k * THREADS;
        if (i < n) {
            int at = from[i];
            if (copy)
                to[i] = at;
            else
                to[at] = i;
        }
    }
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    dim3 grid((n + THREADS * PER - 1) / (THREADS * PER), rows);
    invert_kernel<<<grid, THREADS, 0, stream>>>(out, order, n);
}
