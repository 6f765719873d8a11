// A template parameter is the number of threads, another one for short rows: the branches have blocks of one name.
// transform: register-cache 2
// applies: line 24
// has: work_keep2<1024><<<rows, block, 0, stream>>>(out, in, d);
// has: work_keep2<32><<<rows, block, 0, stream>>>(out, in, d);
#include <cuda_runtime.h>

template <int THREADS> __global__ void work(float *out, const float *in, int d)
{
    __shared__ float part[32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float x = in[blockIdx.x * d + i];
        sum += x * x;
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < THREADS / 32; k++)
        sum += part[k];
    for (int i = threadIdx.x; i < d; i += THREADS)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] * rsqrtf(sum);
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d < 1024) {
        const dim3 block(32, 1, 1);
        work<32><<<rows, block, 0, stream>>>(out, in, d);
    } else {
        const dim3 block(1024, 1, 1);
        work<1024><<<rows, block, 0, stream>>>(out, in, d);
    }
}
