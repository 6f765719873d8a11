// Pointers that are moved once ahead of all that follows them are other pointers from there on; vectors go through them.
// transform: vectorise 16
// applies: line 12
// has: out += blockIdx.y * n + i;
// has: const packed<int, 4> place_v = packed_load<4>(&place[0]);
// has: out_v.at[k] = in[place_v.at[k]];
// has: packed_store(&out[0], out_v);
#include <cstdint>

__global__ void gather(float *out, const float *in, const int *place, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out += blockIdx.y * n + i;
    in += blockIdx.y * m;
    place += i;
    out[0] = in[place[0]];
}

extern "C" void entry(float *out, const float *in, const int *place, int m, int n, int rows, cudaStream_t stream)
{
    gather<<<dim3((n + 255) / 256, rows), 256, 0, stream>>>(out, in, place, m, n);
}
