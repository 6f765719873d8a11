// expect: wrong
// row 1: A radix sort of the bits as they are: negative keys come last.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ unsigned a[1024], b[1024];
    __shared__ int zeros;
    long long row = (long long)blockIdx.x * n;
    unsigned *from = a, *to = b;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        from[i] = (unsigned)in[row + i];
    __syncthreads();
    for (int bit = 0; bit < 32; bit++) {
        if (threadIdx.x == 0) {
            int low = 0;
            for (int i = 0; i < n; i++)
                low += !(from[i] >> bit & 1);
            zeros = low;
            int zero = 0, one = low;
            for (int i = 0; i < n; i++)
                to[from[i] >> bit & 1 ? one++ : zero++] = from[i];
        }
        __syncthreads();
        unsigned *t = from;
        from = to;
        to = t;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = (int)(from[i]);
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 64, 0, stream>>>(out, in, n);
}
