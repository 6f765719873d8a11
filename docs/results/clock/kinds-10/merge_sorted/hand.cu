#include <cuda_runtime.h>
// A block 2048 neighbouring places of the result: two searches along diagonals tell which parts of both tables come
// there. The parts go to shared memory, a thread merges eight, and all goes out in order.
__device__ __forceinline__ int split(const int *a, int n, const int *b, int m, int at)
{
    int low = max(0, at - m), high = min(at, n);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[at - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
__global__ void __launch_bounds__(256)
    merge(int *__restrict__ key, int *__restrict__ value, const int *__restrict__ akey, const int *__restrict__ avalue,
          const int *__restrict__ bkey, const int *__restrict__ bvalue, int n, int m)
{
    __shared__ int keys[2048], places[2048 + 64];
    __shared__ int ends[2];
    int t = threadIdx.x, first = 2048 * blockIdx.x, last = min(first + 2048, n + m), some = last - first;
    if (t % 32 == 0 && t < 64)
        ends[t / 32] = split(akey, n, bkey, m, t ? last : first);
    __syncthreads();
    int a0 = ends[0], na = ends[1] - a0, b0 = first - a0, nb = some - na;
    for (int k = t; k < some; k += 256)
        keys[k] = k < na ? akey[a0 + k] : bkey[b0 + k - na];
    __syncthreads();
    int at = 8 * t, out[8];
    if (at < some) {
        int i = split(keys, na, keys + na, nb, at), j = at - i;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            bool from = i < na && (j >= nb || keys[i] <= keys[na + j]);
            out[k] = from ? i++ : na + j++;
            if (j > nb)
                j = nb;
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (at + k < some)
                places[at + k + at / 32] = out[k];
    }
    __syncthreads();
    for (int k = t; k < some; k += 256) {
        int p = places[k + k / 32];
        key[first + k] = keys[p];
        value[first + k] = p < na ? avalue[a0 + p] : bvalue[b0 + p - na];
    }
}
extern "C" void merge_sorted(int *key, int *value, const int *akey, const int *avalue, const int *bkey,
                             const int *bvalue, int n, int m, cudaStream_t stream)
{
    merge<<<(n + m + 2047) / 2048, 256, 0, stream>>>(key, value, akey, avalue, bkey, bvalue, n, m);
}
