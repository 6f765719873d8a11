// A block a row: the place of each key is the number of those that are less, or equal and in front of it.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    const int *row = in + (long long)blockIdx.x * n;
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
