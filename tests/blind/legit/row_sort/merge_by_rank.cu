// Right: merge sort in shared memory; the place of a key is its own in its half plus a binary search in the other.
__device__ int lower(const int *s, int n, int key)
{
    int low = 0;
    while (n > 0) {
        int half = n / 2;
        bool right = s[low + half] < key;
        low = right ? low + half + 1 : low;
        n = right ? n - half - 1 : half;
    }
    return low;
}

__device__ int upper(const int *s, int n, int key)
{
    int low = 0;
    while (n > 0) {
        int half = n / 2;
        bool right = s[low + half] <= key;
        low = right ? low + half + 1 : low;
        n = right ? n - half - 1 : half;
    }
    return low;
}

__global__ void __launch_bounds__(256) sort_kernel(int *out, const int *in, int n)
{
    __shared__ int s[2][1024];
    int from = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        s[0][i] = in[(long long)blockIdx.x * n + i];
    __syncthreads();
    for (int width = 1; width < n; width *= 2, from ^= 1) {
        for (int i = threadIdx.x; i < n; i += 256) {
            int pair = i / (2 * width) * 2 * width, middle = min(pair + width, n), end = min(pair + 2 * width, n);
            int key = s[from][i], place;
            if (i < middle)
                place = i + lower(&s[from][middle], end - middle, key);
            else
                place = pair + (i - middle) + upper(&s[from][pair], middle - pair, key);
            s[from ^ 1][place] = key;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += 256)
        out[(long long)blockIdx.x * n + i] = s[from][i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
