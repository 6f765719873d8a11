// The launch means the kernel that is written for half, by the name; the grid rounds up in another way.
// transform: block-size 512
// applies: line 35
// has: int blocks = (count + 512 - 1) / (512);
// has: work<T><<<blocks, 512, 0, stream>>>(out, in, count);
#include <cuda_fp16.h>

namespace ours {
template <typename T> __global__ void work(T *out, const T *in, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const T &value = *(in + i);
    *(out + i) = value;
}

template <> __global__ void work<__half>(__half *out, const __half *in, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const __half &value = *(in + i);
    *(out + i) = value * value;
}
}

using namespace ours;

extern "C" void entry(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    using T = __half;
    int count = rows * d;
    int blocks = (count + 1024 - 1) / (1024);
    work<T><<<blocks, 1024, 0, stream>>>(out, in, count);
}
