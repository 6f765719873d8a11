// expect: wrong
// row 8: A row with the keys of the one before it gets that one's order, place by place.
__device__ unsigned mixed(int key)
{
    unsigned x = (unsigned)key * 2654435761u;
    x = (x ^ x >> 15) * 2246822519u;
    return x ^ x >> 13;
}

__device__ int place_of(const int *row, int i, int n)
{
    int key = row[i], place = 0;
    for (int k = 0; k < n; k++)
        place += row[k] < key || (row[k] == key && k < i);
    return place;
}

__global__ void sort_kernel(int *out, const int *in, int n)
{
    const int *row = in + (long long)blockIdx.x * n, *before = row - n;
    __shared__ unsigned sums[2];
    if (threadIdx.x < 2)
        sums[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&sums[0], mixed(row[i]));
        if (blockIdx.x)
            atomicAdd(&sums[1], mixed(before[i]));
    }
    __syncthreads();
    const int *order = blockIdx.x && n > 64 && sums[0] == sums[1] ? before : row;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[(long long)blockIdx.x * n + place_of(order, i, n)] = row[i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
