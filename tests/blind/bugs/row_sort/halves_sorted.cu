// class: round 12 ; wrong because: a row of two sorted halves is merged; whether they are is asked of every fourth pair of neighbours only.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ int s[1024];
    const int *row = in + (long long)blockIdx.x * n;
    int half = n / 2, bad = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        s[i] = row[i];
    __syncthreads();
    for (int i = 4 * threadIdx.x; i + 1 < n; i += 1024)
        bad |= i + 1 != half && s[i] > s[i + 1];
    if (!__syncthreads_or(bad)) {
        for (int i = threadIdx.x; i < n; i += 256) {
            int key = s[i], low = i < half ? half : 0, high = i < half ? n : half, own = i < half ? i : i - half;
            int begin = low;
            while (low < high) {
                int middle = (low + high) / 2;
                if (i < half ? s[middle] < key : s[middle] <= key)
                    low = middle + 1;
                else
                    high = middle;
            }
            out[(long long)blockIdx.x * n + own + low - begin] = key;
        }
        return;
    }
    for (int i = threadIdx.x; i < n; i += 256) {
        int key = s[i], place = 0;
        for (int k = 0; k < n; k++)
            place += s[k] < key || (s[k] == key && k < i);
        out[(long long)blockIdx.x * n + place] = key;
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
