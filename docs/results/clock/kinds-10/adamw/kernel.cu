#include <cuda_bf16.h>
#include <cuda_runtime.h>
// One step of AdamW over a flat parameter with gradients in bfloat16, and the parameter's copy for the next pass;
// `first` and `second` are the corrections of the bias, 1 - beta^t. A thread an element.
__global__ void step(float *param, float *mean, float *square, __nv_bfloat16 *copy, const __nv_bfloat16 *grad,
                     float rate, float decay, float first, float second, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float g = __bfloat162float(grad[i]);
    mean[i] = 0.9f * mean[i] + 0.1f * g;
    square[i] = 0.999f * square[i] + 0.001f * g * g;
    float m = mean[i] / first, v = square[i] / second;
    param[i] = param[i] - rate * decay * param[i];
    param[i] = param[i] - rate * m / (sqrtf(v) + 1e-8f);
    copy[i] = __float2bfloat16(param[i]);
}
extern "C" void adamw(float *param, float *mean, float *square, __nv_bfloat16 *copy, const __nv_bfloat16 *grad,
                      float rate, float decay, float first, float second, int n, cudaStream_t stream)
{
    step<<<(n + 255) / 256, 256, 0, stream>>>(param, mean, square, copy, grad, rate, decay, first, second, n);
}
