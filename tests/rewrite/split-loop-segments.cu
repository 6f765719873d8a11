// What only threads with work may read is read by them alone; a sum that begins with a value begins so once.
// transform: split-loop 8032
// applies: line 16
// has: const bool inside = (row < rows);
// has: const int from = inside ? ends[row] : 0, to = inside ? ends[row + 1] : 0;
// has: if (threadIdx.y > 0)
// has: sum = 0;
// has: for (int e = from + (int)threadIdx.y; inside && e < to; e += 8)
#include <cuda_runtime.h>
__global__ void segments(float *out, const float *bias, const float *in, const int *ends, int rows)
{
    int row = threadIdx.x + blockIdx.x * blockDim.x;
    if (row < rows) {
        const int from = ends[row], to = ends[row + 1];
        float sum = 1.0f;
        for (int e = from; e < to; e++)
            sum = in[e] * 2.0f + sum;
        out[row] = sum + bias[row];
    }
}

extern "C" void entry(float *out, const float *bias, const float *in, const int *ends, int rows, cudaStream_t stream)
{
    segments<<<(rows + 255) / 256, 256, 0, stream>>>(out, bias, in, ends, rows);
}
