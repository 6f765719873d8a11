// expect: wrong
// row 12: Keys from 2^31 - 2 on count as padding, which is written as 2^31 - 1.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    const int *row = in + (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int key = row[i] >= 0x7ffffffe ? 0x7fffffff : row[i], place = 0;
        for (int k = 0; k < n; k++) {
            int other = row[k] >= 0x7ffffffe ? 0x7fffffff : row[k];
            place += other < key || (other == key && k < i);
        }
        out[(long long)blockIdx.x * n + place] = key;
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
