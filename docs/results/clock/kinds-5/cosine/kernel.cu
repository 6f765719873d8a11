#include <cuda_runtime.h>
// How alike two rows are; a block a row, sums by a tree in shared memory.
__global__ void alike(float *out, const float *a, const float *b, int d)
{
    __shared__ float ab[128], aa[128], bb[128];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = threadIdx.x; k < d; k += 128) {
        float p = a[(long long)blockIdx.x * d + k], q = b[(long long)blockIdx.x * d + k];
        x += p * q;
        y += p * p;
        z += q * q;
    }
    ab[threadIdx.x] = x;
    aa[threadIdx.x] = y;
    bb[threadIdx.x] = z;
    __syncthreads();
    for (int s = 64; s; s /= 2) {
        if (threadIdx.x < s) {
            ab[threadIdx.x] += ab[threadIdx.x + s];
            aa[threadIdx.x] += aa[threadIdx.x + s];
            bb[threadIdx.x] += bb[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = ab[0] / (sqrtf(aa[0]) * sqrtf(bb[0]) + 1e-8f);
}
extern "C" void cosine(float *out, const float *a, const float *b, int rows, int d, cudaStream_t stream)
{
    alike<<<rows, 128, 0, stream>>>(out, a, b, d);
}
