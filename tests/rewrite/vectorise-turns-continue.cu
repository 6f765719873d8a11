// Turns that all elements leave out are left out once; from where one element alone goes on to its next turn, nothing is a vector.
// transform: vectorise 16
// applies: line 14
// has: if (skip[r])
// has: continue;
// has: const packed<float, 4> in_v = packed_load<4>(&in[r * d + c]);
// has: if (in[r * d + (c + k)] < 0.0f)
// has: sum[k] += more[r * d + (c + k)];
// lacks: more_v
#include <cstdint>

__global__ void work(float *out, const float *in, const float *more, const int *skip, int rows, int d)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= d)
        return;
    float sum = 0.0f;
    for (int r = 0; r < rows; r++) {
        if (skip[r])
            continue;
        float x = in[r * d + c];
        if (x < 0.0f)
            continue;
        sum += x;
        if (in[r * d + c] < 0.0f)
            continue;
        sum += more[r * d + c];
    }
    out[c] = sum;
}

extern "C" void entry(float *out, const float *in, const float *more, const int *skip, int rows, int d, cudaStream_t stream)
{
    work<<<(d + 255) / 256, 256, 0, stream>>>(out, in, more, skip, rows, d);
}
