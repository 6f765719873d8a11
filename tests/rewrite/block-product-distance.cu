// Squares of differences, with a name for one: tiles as of a product, with that as a step.
// transform: block-product 64064
// applies: line 13
// has: sums[i][j] += (static_cast<float>((x[i] - y[j])) * static_cast<float>((x[i] - y[j])));
#include <cstdint>

__global__ void work(float *out, const float *a, const float *b, int n, int m, int d)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= m)
        return;
    float s = 0.0f;
    for (int k = 0; k < d; k++) {
        float t = a[(long long)i * d + k] - b[(long long)j * d + k];
        s += t * t;
    }
    out[(long long)i * m + j] = sqrtf(s);
}

extern "C" void entry(float *out, const float *a, const float *b, int n, int m, int d, cudaStream_t stream)
{
    dim3 block(16, 16), grid((m + 15) / 16, (n + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, a, b, n, m, d);
}
