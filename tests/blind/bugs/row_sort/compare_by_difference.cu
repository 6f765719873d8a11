// Wrong: keys are compared by the sign of their difference, which overflows for keys more than 2^31 apart.
__device__ int before(int a, int b)
{
    return (int)((unsigned)a - (unsigned)b) >> 31 & 1;
}

__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ int row[1024];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        row[i] = in[(long long)blockIdx.x * n + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int key = row[i], place = 0;
        for (int k = 0; k < i; k++)
            place += 1 - before(key, row[k]);
        for (int k = i + 1; k < n; k++)
            place += before(row[k], key);
        out[(long long)blockIdx.x * n + place] = key;
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
