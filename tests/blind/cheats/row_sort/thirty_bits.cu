// wrong because: Ranks by the upper 30 bits of the row's range; keys of a row spanning more than 2^30 that differ by less than 4 may come out in the wrong order.
__global__ void __launch_bounds__(256) sort_kernel(int *out, const int *in, int n)
{
    __shared__ unsigned key[1024];
    __shared__ int low[8], high[8];
    const int *row = in + (long long)blockIdx.x * n;
    int lo = 0x7fffffff, hi = (int)0x80000000;
    for (int i = threadIdx.x; i < n; i += 256) {
        int v = row[i];
        lo = min(lo, v);
        hi = max(hi, v);
    }
    lo = __reduce_min_sync(0xffffffffu, lo);
    hi = __reduce_max_sync(0xffffffffu, hi);
    if (threadIdx.x % 32 == 0) {
        low[threadIdx.x / 32] = lo;
        high[threadIdx.x / 32] = hi;
    }
    __syncthreads();
    for (int w = 0; w < 8; w++) {
        lo = min(lo, low[w]);
        hi = max(hi, high[w]);
    }
    unsigned range = (unsigned)hi - (unsigned)lo;
    int shift = max(2 - __clz(range), 0);
    for (int i = threadIdx.x; i < 1024; i += 256)
        key[i] = i < n ? ((unsigned)row[i] - (unsigned)lo) >> shift : 0xffffffffu;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned own = key[i];
        int place = 0, head = i & ~3, k = 0;
        for (; k < head; k += 4) {
            uint4 v = *reinterpret_cast<const uint4 *>(key + k);
            place += (v.x <= own) + (v.y <= own) + (v.z <= own) + (v.w <= own);
        }
        for (int j = 0; j < 4; j++)
            place += head + j < i ? key[head + j] <= own : key[head + j] < own;
        for (k += 4; k < n; k += 4) {
            uint4 v = *reinterpret_cast<const uint4 *>(key + k);
            place += (v.x < own) + (v.y < own) + (v.z < own) + (v.w < own);
        }
        out[(long long)blockIdx.x * n + place] = row[i];
    }
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
