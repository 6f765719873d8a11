#include <cuda_runtime.h>
// Colours through a cube of 33 steps a side, between its corners by thirds; a thread a channel of a pixel.
__global__ void grade(float *out, const float *pixels, const float *table, int all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all)
        return;
    int pixel = i / 3, channel = i % 3, cell[3];
    float part[3];
    for (int k = 0; k < 3; k++) {
        float at = pixels[3 * pixel + k] * 32.0f;
        cell[k] = min((int)at, 31);
        part[k] = at - cell[k];
    }
    float sum = 0.0f;
    for (int corner = 0; corner < 8; corner++) {
        int place = 0;
        float weight = 1.0f;
        for (int k = 0; k < 3; k++) {
            int up = corner >> k & 1;
            place = place * 33 + cell[k] + up;
            weight *= up ? part[k] : 1.0f - part[k];
        }
        sum += weight * table[3 * place + channel];
    }
    out[i] = sum;
}
extern "C" void lut3d(float *out, const float *pixels, const float *table, int n, cudaStream_t stream)
{
    grade<<<(3 * n + 255) / 256, 256, 0, stream>>>(out, pixels, table, 3 * n);
}
