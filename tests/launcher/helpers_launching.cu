// void helpers that launch, also as templates over type and value, with the type told by the arguments.
#include <cuda_fp16.h>

template <typename T, int BLOCK> __global__ void scale(T *out, const T *in, float by, int n)
{
}

template <int BLOCK, typename T> static void launch_scale(T *out, const T *in, int n, cudaStream_t stream)
{
    if (n == 0)
        return;
    scale<T, BLOCK><<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(out, in, 2.0f, n);
}

extern "C" void go(__half *out, const __half *in, float *other, int n, cudaStream_t stream)
{
    if (n < 1000)
        launch_scale<64>(out, in, n, stream);
    else
        launch_scale<256, __half>(out, in, n, stream);
    launch_scale<32>(other, other, n, stream);
}

// run: n=100
// launch scale<__half, 64> (2,1,1) (64,1,1) 0 [out, in, 2:f32, 100:i32]
// launch scale<float, 32> (4,1,1) (32,1,1) 0 [other, other, 2:f32, 100:i32]
// run: n=0
// nothing
