// RIGHT: each place of a row is written once, as the order is a permutation; four numbers a thread where rows are whole vectors, else one, the same grid for both.
template <typename V> __global__ void invert_kernel(int *out, const V *order, int n)
{
    constexpr int N = sizeof(V) / sizeof(int);
    int i = blockIdx.x * 128 + threadIdx.x;
    long long row = (long long)blockIdx.y * n;
    if (i * N >= n)
        return;
    V v = __ldcs(order + row / N + i);
#pragma unroll
    for (int k = 0; k < N; k++)
        out[row + ((const int *)&v)[k]] = i * N + k;
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    if (n % 4 == 0)
        invert_kernel<<<dim3((n / 4 + 127) / 128, rows), 128, 0, stream>>>(out, (const int4 *)order, n);
    else
        invert_kernel<<<dim3((n + 127) / 128, rows), 128, 0, stream>>>(out, order, n);
}
