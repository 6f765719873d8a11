// right: values lie in -1000 to 999 and bounds in -900 to 899 (both promised), so each block makes a table of the answers of all 2000 values (each place stored by one thread) and looks them up, four at a time.
constexpr int LOW = -1000, SPAN = 2000, THREADS = 512;

__global__ void __launch_bounds__(THREADS) bucketize_kernel(int *__restrict__ out, const int *__restrict__ values, const int *__restrict__ bounds, int n, int m)
{
    __shared__ unsigned short low[SPAN];
    __shared__ unsigned char high[SPAN]; // an answer may be 65,536
    for (int j = threadIdx.x; j <= m; j += THREADS) {
        int from = j > 0 ? bounds[j - 1] + 1 : LOW, to = j < m ? bounds[j] : LOW + SPAN - 1;
        for (int v = from; v <= to; v++) {
            low[v - LOW] = (unsigned short)j;
            high[v - LOW] = (unsigned char)(j >> 16);
        }
    }
    __syncthreads();
    auto find = [&](int v) { return (int)low[v - LOW] | (int)high[v - LOW] << 16; };
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS, whole = n / 4;
    for (int i = first; i < whole; i += stride) {
        int4 v = reinterpret_cast<const int4 *>(values)[i];
        reinterpret_cast<int4 *>(out)[i] = make_int4(find(v.x), find(v.y), find(v.z), find(v.w));
    }
    int i = 4 * whole + first;
    if (i < n)
        out[i] = find(values[i]);
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    int blocks = (n + 4 * THREADS - 1) / (4 * THREADS);
    bucketize_kernel<<<blocks < 264 ? blocks : 264, THREADS, 0, stream>>>(out, values, bounds, n, m);
}
