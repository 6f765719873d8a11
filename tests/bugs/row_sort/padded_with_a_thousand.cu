// expect: wrong
// row 1: A bitonic network filled up with a number that was large enough in the tests.
__global__ void sort_kernel(int *out, const int *in, int n, int size)
{
    __shared__ int s[1024];
    long long row = (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        s[i] = i < n ? in[row + i] : 1000000;
    __syncthreads();
    for (int k = 2; k <= size; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            for (int i = threadIdx.x; i < size; i += blockDim.x) {
                int other = i ^ j;
                if (other > i && (s[i] > s[other]) == ((i & k) == 0)) {
                    int t = s[i];
                    s[i] = s[other];
                    s[other] = t;
                }
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = s[i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    int size = 2;
    while (size < n)
        size *= 2;
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n, size);
}
