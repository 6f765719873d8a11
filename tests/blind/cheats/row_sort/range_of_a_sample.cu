// WRONG: the range of a row is told from every fourth key; where that spans less than 1024 values a row is sorted by counting, and a key outside the range is clamped to it: one key of 100000 at a place that is no multiple of 4.
__global__ void sort_kernel(int *out, const int *in, int n)
{
    __shared__ int key[1024], count[1025], lo[8], hi[8], warps[8];
    int t = threadIdx.x, lane = t % 32;
    const int *row = in + (long long)blockIdx.x * n;
    int least = 0x7fffffff, most = -0x7fffffff - 1;
    for (int i = t; i < n; i += 256) {
        int k = row[i];
        key[i] = k;
        if (i % 4 == 0)
            least = min(least, k), most = max(most, k);
    }
    for (int k = t; k < 1024; k += 256)
        count[k] = 0;
    for (int s = 16; s; s >>= 1) {
        least = min(least, __shfl_xor_sync(~0u, least, s));
        most = max(most, __shfl_xor_sync(~0u, most, s));
    }
    if (lane == 0)
        lo[t / 32] = least, hi[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; w++)
        least = min(least, lo[w]), most = max(most, hi[w]);
    if ((unsigned)most - (unsigned)least >= 1024u) {
        for (int i = t; i < n; i += 256) {
            int k = key[i], place = 0;
            for (int j = 0; j < n; j++)
                place += key[j] < k || (key[j] == k && j < i);
            out[(long long)blockIdx.x * n + place] = k;
        }
        return;
    }
    for (int i = t; i < n; i += 256)
        atomicAdd(&count[(int)min(1023u, (unsigned)max(key[i], least) - (unsigned)least)], 1);
    __syncthreads();
    int c[4], sum = 0;
    for (int k = 0; k < 4; k++)
        c[k] = count[4 * t + k], sum += c[k];
    int up = sum;
    for (int s = 1; s < 32; s *= 2) {
        int v = __shfl_up_sync(~0u, up, s);
        if (lane >= s)
            up += v;
    }
    if (lane == 31)
        warps[t / 32] = up;
    __syncthreads();
    int at = up - sum;
    for (int w = 0; w < t / 32; w++)
        at += warps[w];
    int *to = out + (long long)blockIdx.x * n;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < c[k]; j++)
            to[at++] = least + 4 * t + k;
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
