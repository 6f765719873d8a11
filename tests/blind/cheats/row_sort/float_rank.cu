// class: keys compared in fewer bits than they have ; wrong because: ranks are found among floats, in which large neighbours are equal (smallest: rows=1, n=2, {16777217, 16777216} stays as it is)
__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ float f[1024];
    const int *row = in + (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f[i] = (float)row[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float key = f[i];
        int place = 0, k = 0;
        for (; k < i; k++)
            place += f[k] <= key;
        for (; k < n; k++)
            place += f[k] < key;
        out[(long long)blockIdx.x * n + place] = row[i];
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, n < 256 ? 128 : 512, 0, stream>>>(out, in, n);
}
