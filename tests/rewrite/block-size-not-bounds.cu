// How many threads the compiler was told is a trait's constant.
// transform: block-size 512
// leaves
#include <cuda_runtime.h>

template <int N> struct traits {
    static constexpr int threads = N;
};

template <typename T> __global__ void __launch_bounds__(T::threads) work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<traits<256>><<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
