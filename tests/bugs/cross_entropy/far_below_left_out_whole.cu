// expect: wrong
// row 8: Terms 16 below the largest are not added: in a row of 262144 they are 3 % of it.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

__global__ void cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float shared[256];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < vocab; i += blockDim.x)
        most = fmaxf(most, __bfloat162float(x[i]));
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    most = shared[0];
    __syncthreads();
    for (int i = threadIdx.x; i < vocab; i += blockDim.x)
        {
        float z = __bfloat162float(x[i]) - most;
        if (z > -16.0f)
            sum += expf(z);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(shared[0]) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 256, 0, stream>>>(loss, logits, target, vocab);
}
