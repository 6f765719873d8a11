// A loop of which all elements take the same turns stands once: what is beside each other moves as vectors in every turn, and
// what an element keeps from turn to turn is an array of them.
// transform: vectorise 16
// applies: line 15
// has: float sum[4];
// has: if (dy + y >= 0 && dy + y < h)
// has: in_v = packed_load<4>(&in[((long long)(y + dy) * w + x) * c + channel]);
// has: sum[k] += in_v.at[k] * taps_v.at[k];
// has: out_v.at[k] = sum[k];
#include <cstdint>

__global__ void work(float *out, const float *in, const float *taps, int h, int w, int c)
{
    long long n = (long long)h * w * c;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (i >= (long long)h * w * c)
        return;
    int channel = i % c, x = i / c % w, y = i / c / w;
    for (int dy = -1; dy <= 1; dy++)
        if (dy + y >= 0 && dy + y < h)
            sum += in[((long long)(y + dy) * w + x) * c + channel] * taps[(dy + 1) * c + channel];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *in, const float *taps, int h, int w, int c, cudaStream_t stream)
{
    work<<<(h * w * c + 255) / 256, 256, 0, stream>>>(out, in, taps, h, w, c);
}
