#include <cuda_runtime.h>
// The query stays in registers, codes come through shared memory, 128 at a time; of the bits of three words two sums are made
// first, so that two are counted instead of three.
__device__ static int count(const unsigned *q, uint4 a, uint4 b)
{
    unsigned x[8] = {q[0] ^ a.x, q[1] ^ a.y, q[2] ^ a.z, q[3] ^ a.w, q[4] ^ b.x, q[5] ^ b.y, q[6] ^ b.z, q[7] ^ b.w};
    unsigned s = x[0] ^ x[1] ^ x[2], c = (x[0] & x[1]) | (x[2] & (x[0] | x[1]));
    unsigned t = x[3] ^ x[4] ^ x[5], d = (x[3] & x[4]) | (x[5] & (x[3] | x[4]));
    return __popc(s) + __popc(t) + 2 * (__popc(c) + __popc(d)) + __popc(x[6]) + __popc(x[7]);
}
__global__ void nearest(int *__restrict__ out, const uint4 *__restrict__ query, const uint4 *__restrict__ code, int n, int m)
{
    __shared__ uint4 tile[256];
    int i = blockIdx.x * 128 + threadIdx.x, at = min(i, n - 1), least = 257;
    uint4 a = query[(long long)at * 2], b = query[(long long)at * 2 + 1];
    unsigned q[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    for (int first = 0; first < m; first += 128) {
        int here = min(128, m - first);
        __syncthreads();
        for (int k = threadIdx.x; k < 2 * here; k += 128)
            tile[k] = code[(long long)first * 2 + k];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < here; j++)
            least = min(least, count(q, tile[2 * j], tile[2 * j + 1]));
    }
    if (i < n)
        out[i] = least;
}
extern "C" void hamming(int *out, const unsigned *query, const unsigned *code, int n, int m, cudaStream_t stream)
{
    nearest<<<(n + 127) / 128, 128, 0, stream>>>(out, (const uint4 *)query, (const uint4 *)code, n, m);
}
