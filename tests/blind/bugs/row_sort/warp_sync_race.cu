// class: race ; wrong because: the last steps of the bitonic network are taken without a barrier, as if a warp still moved in step (Volta and later: none is promised) (smallest: n = 33, where pairs of one warp read what another lane has not written yet)
#include <climits>

__global__ void sort_kernel(int *out, const int *in, int n, int padded)
{
    __shared__ int s[1024];
    long long row = (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < padded; i += blockDim.x)
        s[i] = i < n ? in[row + i] : INT_MAX;
    __syncthreads();
    for (int size = 2; size <= padded; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int t = threadIdx.x;
            if (t < padded / 2) {
                int i = 2 * t - (t & (step - 1)), j = i + step;
                bool up = (i & size) == 0;
                int a = s[i], b = s[j];
                if ((a > b) == up) {
                    s[i] = b;
                    s[j] = a;
                }
            }
            if (step > 32 || step == 1)
                __syncthreads(); // below, a warp's 64 keys are its own
        }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = s[i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    int padded = 2;
    while (padded < n)
        padded *= 2;
    sort_kernel<<<rows, 512, 0, stream>>>(out, in, n, padded);
}
