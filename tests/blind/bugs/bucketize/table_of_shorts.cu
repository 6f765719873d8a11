// WRONG: the answers of all 2000 values are tabulated in 16 bits; with m = 65536 a value above all bounds has the answer 65536, which becomes 0.
#include <cstdint>

__global__ void tabulate(uint16_t *table, const int *bounds, int m)
{
    int v = blockIdx.x * 128 + threadIdx.x;
    if (v >= 2000)
        return;
    int low = 0, high = m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bounds[middle] < v - 1000)
            low = middle + 1;
        else
            high = middle;
    }
    table[v] = (uint16_t)low;
}

__global__ void look_up(int *out, const int *values, const uint16_t *table, int n)
{
    __shared__ uint16_t t[2000];
    for (int i = threadIdx.x; i < 2000; i += 256)
        t[i] = table[i];
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        out[i] = t[values[i] + 1000];
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    uint16_t *table;
    if (cudaMallocAsync((void **)&table, 2000 * sizeof(uint16_t), stream) != cudaSuccess)
        return;
    int blocks = (n + 2047) / 2048;
    tabulate<<<16, 128, 0, stream>>>(table, bounds, m);
    look_up<<<blocks < 264 ? blocks : 264, 256, 0, stream>>>(out, values, table, n);
    cudaFreeAsync(table, stream);
}
