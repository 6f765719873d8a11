#include <cuda_runtime.h>
// Two sorted tables of keys and values into one, of equal keys the first table's first; a thread an element, which
// finds its place in the other table by halves.
__global__ void place(int *key, int *value, const int *akey, const int *avalue, const int *bkey, const int *bvalue,
                      int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n + m)
        return;
    bool first = i < n;
    int own = first ? akey[i] : bkey[i - n], low = 0, high = first ? m : n;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (first ? bkey[mid] < own : akey[mid] <= own)
            low = mid + 1;
        else
            high = mid;
    }
    int to = low + (first ? i : i - n);
    key[to] = own;
    value[to] = first ? avalue[i] : bvalue[i - n];
}
extern "C" void merge_sorted(int *key, int *value, const int *akey, const int *avalue, const int *bkey,
                             const int *bvalue, int n, int m, cudaStream_t stream)
{
    place<<<(n + m + 255) / 256, 256, 0, stream>>>(key, value, akey, avalue, bkey, bvalue, n, m);
}
