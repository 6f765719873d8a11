// Every k-th bound (k a power of two, at most 1024 of them) lies in shared memory and is searched first without branches; the rest of the search is in global memory. Four values a thread.
#include <cstdint>

__global__ void __launch_bounds__(256) bucketize_kernel(int *__restrict__ out, const int *__restrict__ values, const int *__restrict__ bounds, int n, int m, int log)
{
    __shared__ int sample[1024];
    const int samples = ((m - 1) >> log) + 1;
    for (int i = threadIdx.x; i < samples; i += 256)
        sample[i] = bounds[i << log];
    __syncthreads();
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (first >= n)
        return;
    int v[4], r[4];
    const bool whole = first + 4 <= n;
    if (whole)
        *reinterpret_cast<int4 *>(v) = __ldcs(reinterpret_cast<const int4 *>(values + first));
    else
        for (int j = 0; j < 4; j++)
            v[j] = first + j < n ? values[first + j] : 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int low = 0, count = samples;
        while (count > 0) {
            int half = count >> 1;
            bool less = sample[low + half] < v[j];
            low = less ? low + half + 1 : low;
            count = less ? count - half - 1 : half;
        }
        int from = low == 0 ? 0 : ((low - 1) << log) + 1, to = low == 0 ? 0 : min(m, low << log);
        while (from < to) {
            int middle = (from + to) >> 1;
            if (__ldg(bounds + middle) < v[j])
                from = middle + 1;
            else
                to = middle;
        }
        r[j] = from;
    }
    if (whole)
        *reinterpret_cast<int4 *>(out + first) = *reinterpret_cast<int4 *>(r);
    else
        for (int j = 0; first + j < n; j++)
            out[first + j] = r[j];
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream)
{
    int log = 0;
    while ((m - 1) >> log >= 1024)
        log++;
    bucketize_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(out, values, bounds, n, m, log);
}
