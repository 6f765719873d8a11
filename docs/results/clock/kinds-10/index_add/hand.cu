#include <cuda_runtime.h>
// Four elements a thread, added as one vector; a block's threads lie along d, so nothing is divided by it.
__global__ void add(float *__restrict__ out, const float4 *__restrict__ src, const int *__restrict__ index, float scale,
                    int n, int d)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n)
        return;
    float *to = out + 4ll * index[row] * d;
    const float4 *from = src + (long long)row * d;
    for (int k = threadIdx.x; k < d; k += blockDim.x) {
        float4 v = from[k];
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(__cvta_generic_to_global(to + 4 * k)), "f"(scale * v.x), "f"(scale * v.y), "f"(scale * v.z),
                       "f"(scale * v.w)
                     : "memory");
    }
}
extern "C" void index_add(float *out, const float *src, const int *index, float scale, int n, int d,
                          cudaStream_t stream)
{
    int wide = d >= 128 ? 32 : d >= 64 ? 16 : 8, high = 256 / wide;
    add<<<(n + high - 1) / high, dim3(wide, high), 0, stream>>>(out, (const float4 *)src, index, scale, n, d / 4);
}
