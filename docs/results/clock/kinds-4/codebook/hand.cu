#include <cuda_runtime.h>
// The codes in shared memory, the point in registers.
__global__ void nearest(int *__restrict__ out, const int4 *__restrict__ x, const int4 *__restrict__ codes, int n, int m)
{
    extern __shared__ int4 table[];
    for (int k = threadIdx.x; k < 2 * m; k += blockDim.x)
        table[k] = codes[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int4 a = x[2 * (size_t)i], b = x[2 * (size_t)i + 1];
    int best = 0, least = 0x7fffffff;
#pragma unroll 2
    for (int c = 0; c < m; c++) {
        int4 p = table[2 * c], q = table[2 * c + 1];
        int d0 = a.x - p.x, d1 = a.y - p.y, d2 = a.z - p.z, d3 = a.w - p.w;
        int e0 = b.x - q.x, e1 = b.y - q.y, e2 = b.z - q.z, e3 = b.w - q.w;
        int sum = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3;
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    out[i] = best;
}
extern "C" void codebook(int *out, const int *x, const int *codes, int n, int m, cudaStream_t stream)
{
    nearest<<<(n + 127) / 128, 128, m * 32, stream>>>(out, (const int4 *)x, (const int4 *)codes, n, m);
}
