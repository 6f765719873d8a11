// expect: wrong
// row 8: Takes a row for sorted when no more than two of its elements are less than the one before.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    const int *row = in + (long long)blockIdx.x * n;
    __shared__ int down;
    if (threadIdx.x == 0)
        down = 0;
    __syncthreads();
    for (int i = threadIdx.x; i + 1 < n; i += blockDim.x)
        if (row[i] > row[i + 1])
            atomicAdd(&down, 1);
    __syncthreads();
    if (down <= 2 && n > 64) {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            out[(long long)blockIdx.x * n + i] = row[i];
        return;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int key = row[i], place = 0;
        for (int k = 0; k < n; k++)
            place += row[k] < key || (row[k] == key && k < i);
        out[(long long)blockIdx.x * n + place] = key;
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
