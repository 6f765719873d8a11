// RIGHT: a bitonic network of 1024 keys, those behind the row's end the largest number (equal keys are alike, so it does not matter which of them is cut off); steps within a warp by shuffles, the others through shared memory.
__device__ int choose(int own, int other, bool lower)
{
    return lower ? min(own, other) : max(own, other);
}

template <int N> __global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ int s[N];
    int i = threadIdx.x;
    long long row = (long long)blockIdx.x * n;
    int key = i < n ? in[row + i] : 0x7fffffff;
#pragma unroll
    for (int size = 2; size <= N; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2) {
            bool lower = ((i & step) == 0) == ((i & size) == 0);
            if (step >= 32) {
                s[i] = key;
                __syncthreads();
                key = choose(key, s[i ^ step], lower);
                __syncthreads();
            } else
                key = choose(key, __shfl_xor_sync(~0u, key, step), lower);
        }
    if (i < n)
        out[row + i] = key;
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    if (n <= 32)
        sort_kernel<32><<<rows, 32, 0, stream>>>(out, in, n);
    else if (n <= 128)
        sort_kernel<128><<<rows, 128, 0, stream>>>(out, in, n);
    else if (n <= 256)
        sort_kernel<256><<<rows, 256, 0, stream>>>(out, in, n);
    else if (n <= 512)
        sort_kernel<512><<<rows, 512, 0, stream>>>(out, in, n);
    else
        sort_kernel<1024><<<rows, 1024, 0, stream>>>(out, in, n);
}
