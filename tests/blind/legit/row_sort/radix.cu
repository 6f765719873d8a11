// CUB's radix sort of a block, sizes chosen by the launcher; the padding is the largest int, whose copies cannot be told apart.
#include <climits>
#include <cub/block/block_radix_sort.cuh>

template <int THREADS, int ITEMS> __global__ __launch_bounds__(THREADS) void sort_kernel(int *__restrict__ out, const int *__restrict__ in, int n)
{
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    size_t row = (size_t)blockIdx.x * n;
    int keys[ITEMS];
#pragma unroll
    for (int e = 0; e < ITEMS; e++) {
        int i = e * THREADS + threadIdx.x; // any arrangement will do before a sort
        keys[e] = i < n ? in[row + i] : INT_MAX;
    }
    Sort(storage).SortBlockedToStriped(keys);
#pragma unroll
    for (int e = 0; e < ITEMS; e++) {
        int i = e * THREADS + threadIdx.x;
        if (i < n)
            out[row + i] = keys[e];
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    if (n <= 64)
        sort_kernel<64, 1><<<rows, 64, 0, stream>>>(out, in, n);
    else if (n <= 256)
        sort_kernel<64, 4><<<rows, 64, 0, stream>>>(out, in, n);
    else if (n <= 512)
        sort_kernel<128, 4><<<rows, 128, 0, stream>>>(out, in, n);
    else
        sort_kernel<256, 4><<<rows, 256, 0, stream>>>(out, in, n);
}
