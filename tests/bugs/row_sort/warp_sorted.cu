// expect: wrong
// row 8: A row is taken for sorted by neighbours within a warp: runs whose ends lie at multiples of 32 stay as they are.
// A row that is sorted already is copied; else places by counting.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    const int *row = in + (long long)blockIdx.x * n;
    int bad = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        int key = i < n ? row[i] : 2147483647;
        int next = __shfl_down_sync(0xffffffffu, key, 1);
        bad |= next < key; // lane 31 gets its own key back
    }
    if (!__syncthreads_or(bad)) {
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
