// wrong because: Eight places whose first and last differ by seven, and whose second is next to the first, are taken to be a run.
__global__ void __launch_bounds__(128) invert_kernel(int *out, const int *order, int n)
{
    int i = (blockIdx.x * 128 + threadIdx.x) * 8;
    size_t row = (size_t)blockIdx.y * n;
    if (i >= n)
        return;
    const int *from = order + row + i;
    if (n % 4 == 0 && i + 8 <= n) {
        int4 p = *reinterpret_cast<const int4 *>(from), q = *reinterpret_cast<const int4 *>(from + 4);
        int step = q.w - p.x == 7 && p.y - p.x == 1;
        int *to = out + row;
        to[p.x] = i;
        to[p.y] = i + 1;
        to[step ? p.x + 2 : p.z] = i + 2;
        to[step ? p.x + 3 : p.w] = i + 3;
        to[step ? p.x + 4 : q.x] = i + 4;
        to[step ? p.x + 5 : q.y] = i + 5;
        to[step ? p.x + 6 : q.z] = i + 6;
        to[q.w] = i + 7;
    } else
        for (int j = 0; j < 8 && i + j < n; j++)
            out[row + from[j]] = i + j;
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    invert_kernel<<<dim3((n + 1023) / 1024, rows), 128, 0, stream>>>(out, order, n);
}
