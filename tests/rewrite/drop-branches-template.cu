// A template's arguments decide, also within a branch that stays, and where the branch stands without braces.
// transform: drop-branches 0
// applies: line 14
// has: T value = in[i];
// has: value = value * 2.0f;
// has: out[i] = value + 1.0f;
// lacks: if (TWICE)
// lacks: out[i] = value;
#include <cuda_runtime.h>

template <bool TWICE, typename T, int KIND = 0> __global__ void work(T *out, const T *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (TWICE && KIND != 1) {
        T value = in[i];
        if constexpr (TWICE)
            value = value * 2.0f;
        if (i < n)
            if (!TWICE)
                out[i] = value;
            else
                out[i] = value + 1.0f;
    }
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<true, float, 3><<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
