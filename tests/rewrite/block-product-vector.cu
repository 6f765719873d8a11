// A matrix times a vector: a warp a row.
// transform: block-product 8
// applies: line 15
// has: const long long row0 = (long long)blockIdx.x * 8 + threadIdx.x / 32;
// has: const float sums = gemv_product<float>(a + row0 * ((long long)k), 1LL, x, 1LL, depth);
// has: work<<<(m + 7) / 8, 256, 0, stream>>>
// lacks: tile_place
#include <cuda_runtime.h>

__global__ void work(float *out, const float *a, const float *x, int m, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            sum += a[row * k + i] * x[i];
        out[row] = sum;
    }
}

extern "C" void entry(float *out, const float *a, const float *x, int m, int k, cudaStream_t stream)
{
    work<<<(m + 127) / 128, 128, 0, stream>>>(out, a, x, m, k);
}
