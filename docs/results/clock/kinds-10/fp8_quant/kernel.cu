#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
// Activations to 8-bit floats with a scale for every 128 of them; a block a group, a thread an element.
__global__ void quantise(unsigned char *out, float *scale, const __nv_bfloat16 *in)
{
    __shared__ float most[128];
    int t = threadIdx.x;
    long long at = 128ll * blockIdx.x + t;
    float x = __bfloat162float(in[at]);
    most[t] = fabsf(x);
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            most[t] = fmaxf(most[t], most[t + s]);
        __syncthreads();
    }
    float by = fmaxf(most[0], 1e-6f) / 448.0f;
    if (t == 0)
        scale[blockIdx.x] = by;
    out[at] = __nv_cvt_float_to_fp8(x / by, __NV_SATFINITE, __NV_E4M3);
}
extern "C" void fp8_quant(unsigned char *out, float *scale, const __nv_bfloat16 *in, int rows, int groups,
                          cudaStream_t stream)
{
    quantise<<<rows * groups, 128, 0, stream>>>(out, scale, in);
}
