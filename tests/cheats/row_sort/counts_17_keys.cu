// expect: wrong
// row 1: Counts the keys from -8 to 8, which are all that it ever saw.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ int counts[17], first[17];
    long long row = (long long)blockIdx.x * n;
    if (threadIdx.x < 17)
        counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&counts[min(max(in[row + i] + 8, 0), 16)], 1);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0, sum = 0; k < 17; sum += counts[k++])
            first[k] = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int k = 16;
        while (first[k] > i)
            k--;
        out[row + i] = k - 8;
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
