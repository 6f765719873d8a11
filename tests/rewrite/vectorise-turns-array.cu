// Arrays of a thread are arrays of arrays, whose loops must stay unrolled; what is declared beside the index is the same for
// all elements.
// transform: vectorise 16
// applies: line 12
// has: float v[4][9];
// has: #pragma unroll
// has: float low = fminf(v[k][i], v[k][i + 1]);
#include <cstdint>

__global__ void work(float *out, const float *in, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w || y >= h)
        return;
    float v[9];
    for (int i = 0; i < 9; i++)
        v[i] = in[(y * 9 + i) * w + x];
    for (int i = 0; i < 8; i++) {
        float low = fminf(v[i], v[i + 1]);
        v[i] = low;
    }
    out[y * w + x] = v[0];
}

extern "C" void entry(float *out, const float *in, int h, int w, cudaStream_t stream)
{
    work<<<dim3((w + 255) / 256, h), 256, 0, stream>>>(out, in, h, w);
}
