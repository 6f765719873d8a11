// Each loop of a column's softmax is shared; between them all parts have the same result.
// transform: split-loop 8000
// applies: line 18
// has: m = m_parts_1[0][threadIdx.x];
// has: m = m_parts_1[other][threadIdx.x] > m ? m_parts_1[other][threadIdx.x] : m;
// has: s += s_parts_2[other][threadIdx.x];
// has: for (int r = (int)threadIdx.y; inside && r < rows; r += 8)
// has: if (threadIdx.y > 0 || !inside)
#include <cuda_runtime.h>
__global__ void softmax(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * 64 + threadIdx.x;
    if (col >= d)
        return;
    float m = -INFINITY;
    float s = 0;
#pragma unroll 2
    for (int r = 0; r < rows; r++) {
        float x = in[r * d + col];
        if (x > m)
            m = x;
    }
    for (int r = 0; r < rows; r++)
        s += expf(in[r * d + col] - m);
    for (int r = 0; r < rows; r++)
        out[r * d + col] = expf(in[r * d + col] - m) / s;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax<<<(d + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
