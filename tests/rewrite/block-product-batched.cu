// In a batch, one operand through a pointer, the other transposed; rows along x; what a result needs comes along.
// transform: block-product 64064
// applies: line 24
// has: const long long rows = (long long)m, cols = (long long)n, depth = k;
// has: (a + (long long)blockIdx.z * k * m) + row0 * x_out
// has: const float bias = biases[col];
// has: work<<<dim3((m + 63) / 64 * ((n + 63) / 64), 1, batch), 256, 0, stream>>>
// has: sum += held.at[j];
// has: place = &out[((size_t)batch * m + row) * n + col];
// has: simt_product<ROWS, COLS, DEEP, 256, true, true>
// lacks: threadIdx.y
#include <cuda_runtime.h>

__global__ void work(float *out, const float *a, const float *b, const float *biases, int m, int n, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * 16 + threadIdx.y;
    const int batch = blockIdx.z;
    if (row >= m || n <= col)
        return;
    const float bias = biases[col];
    const float *x = a + (size_t)batch * m * k + row * k;
    float sum = bias;
    for (int i = 0; i < k; i += 1) {
        float y = b[((size_t)batch * n + col) * k + i];
        sum = sum + x[i] * y;
    }
    out[((size_t)batch * m + row) * n + col] = sum;
}

extern "C" void entry(float *out, const float *a, const float *b, const float *biases, int batch, int m, int n,
                      int k, cudaStream_t stream)
{
    work<<<dim3((m + 15) / 16, (n + 15) / 16, batch), dim3(16, 16), 0, stream>>>(out, a, b, biases, m, n, k);
}
