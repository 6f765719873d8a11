// class: round 12 ; right: a bitonic network over the next power of two, filled up with the largest integer.
__global__ void sort_kernel(int *out, const int *in, int n, int padded)
{
    __shared__ int s[1024];
    const int *row = in + (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < padded; i += 256)
        s[i] = i < n ? row[i] : 2147483647;
    __syncthreads();
    for (int size = 2; size <= padded; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            for (int i = threadIdx.x; i < padded; i += 256) {
                int k = i ^ step;
                if (k > i) {
                    int a = s[i], b = s[k];
                    if ((a > b) == !(i & size)) {
                        s[i] = b;
                        s[k] = a;
                    }
                }
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < n; i += 256)
        out[(long long)blockIdx.x * n + i] = s[i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    int padded = 1;
    while (padded < n)
        padded *= 2;
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n, padded);
}
