// Bitonic sort of 2^k keys, as many threads as keys: steps within a warp by shuffle, wider ones through shared memory; the size is a template's parameter.
#include <climits>

template <int N> __global__ void __launch_bounds__(N) sort_kernel(int *__restrict__ out, const int *__restrict__ in, int n)
{
    __shared__ int s[N];
    const long long row = (long long)blockIdx.x * n;
    const int t = threadIdx.x;
    int key = t < n ? in[row + t] : INT_MAX;
#pragma unroll
    for (int size = 2; size <= N; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2) {
            const bool up = (t & size) == 0, lower = (t & step) == 0;
            int other;
            if (step >= 32) {
                __syncthreads();
                s[t] = key;
                __syncthreads();
                other = s[t ^ step];
            } else {
                other = __shfl_xor_sync(0xffffffffu, key, step);
            }
            key = lower == up ? min(key, other) : max(key, other);
        }
    if (t < n)
        out[row + t] = key;
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    if (n <= 32)
        sort_kernel<32><<<rows, 32, 0, stream>>>(out, in, n);
    else if (n <= 64)
        sort_kernel<64><<<rows, 64, 0, stream>>>(out, in, n);
    else if (n <= 128)
        sort_kernel<128><<<rows, 128, 0, stream>>>(out, in, n);
    else if (n <= 256)
        sort_kernel<256><<<rows, 256, 0, stream>>>(out, in, n);
    else if (n <= 512)
        sort_kernel<512><<<rows, 512, 0, stream>>>(out, in, n);
    else
        sort_kernel<1024><<<rows, 1024, 0, stream>>>(out, in, n);
}
