// expect: unsafe
// row 15: Waits for all groups but one, also where no further one was begun.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ void fetch(void *to, const void *from, bool there)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    int bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    __shared__ float tile[2][131];
    int64_t c = blockIdx.y;
    int i = threadIdx.x;
    const float *row = x + c * time;
    int tiles = (time + 127) / 128;
    auto load = [&](int k) {
        for (int j = i; j < 131; j += 128) {
            int t = k * 128 + j - 3;
            bool there = t >= 0 && t < time;
            fetch(&tile[k % 2][j], there ? row + t : row, there);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    load(0);
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            load(k + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        float sum = 0;
        for (int j = 0; j < 4; j++)
            sum += filter[c * 4 + j] * tile[k % 2][i + j];
        if (k * 128 + i < time)
            y[c * time + k * 128 + i] = sum;
        __syncthreads();
    }
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3(1, channels), 128, 0, stream>>>(y, x, filter, time);
}
