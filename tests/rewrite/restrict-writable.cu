// What becomes a pointer to something that may be written is not const: by a cast, in a macro, in an object.
// transform: restrict 0
// applies: line 17
// has: (float *__restrict__ out, float *__restrict__ cast,
// has:  float *__restrict__ macro,
// has:  float *__restrict__ kept,
// has: const float *__restrict__ read
#include <cstdint>

#define AS_FLOAT2(value) (reinterpret_cast<float2 *>(&(value))[0])

struct view {
    float *at;
    __device__ view(float *p) : at(p) {}
};

__global__ void work(float *out, float *cast, float *macro, float *kept, float *read, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 *two = (float2 *)cast;
    view v(kept);
    if (2 * i < n)
        out[i] = two[i].x + AS_FLOAT2(macro[2 * i]).y + v.at[i] + read[i];
}

extern "C" void entry(float *out, float *cast, float *macro, float *kept, float *read, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, cast, macro, kept, read, n);
}
