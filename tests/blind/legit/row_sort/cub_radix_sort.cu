// A block a row, cub::BlockRadixSort with as many keys a thread as the row needs; places beyond n hold INT_MAX, which sorts to the end (equal to real ones, so nothing is lost).
#include <climits>
#include <cstdint>
#include <cub/block/block_radix_sort.cuh>

template <int THREADS, int ITEMS> __global__ void __launch_bounds__(THREADS) sort_rows(int *out, const int *in, int n)
{
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;

    const int64_t row = (int64_t)blockIdx.x * n;
    int keys[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = k * THREADS + threadIdx.x; // any order will do
        keys[k] = i < n ? in[row + i] : INT_MAX;
    }
    Sort(storage).SortBlockedToStriped(keys);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = k * THREADS + threadIdx.x;
        if (i < n)
            out[row + i] = keys[k];
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    if (n <= 64)
        sort_rows<64, 1><<<rows, 64, 0, stream>>>(out, in, n);
    else if (n <= 256)
        sort_rows<128, 2><<<rows, 128, 0, stream>>>(out, in, n);
    else if (n <= 512)
        sort_rows<128, 4><<<rows, 128, 0, stream>>>(out, in, n);
    else
        sort_rows<256, 4><<<rows, 256, 0, stream>>>(out, in, n);
}
