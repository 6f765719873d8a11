// A step that is not 0 for two zeros would count where there is no element.
// transform: block-product -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *a, const float *b, int n, int m, int d)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= m)
        return;
    float s = 0.0f;
    for (int k = 0; k < d; k++)
        s += fabsf(a[(long long)i * d + k] - b[(long long)j * d + k] + 1.0f);
    out[(long long)i * m + j] = s;
}

extern "C" void entry(float *out, const float *a, const float *b, int n, int m, int d, cudaStream_t stream)
{
    dim3 block(16, 16), grid((m + 15) / 16, (n + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, a, b, n, m, d);
}
