// The library's barrier: arrive with a token, work, wait; and its asynchronous copy.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 2 block 128 args out in
#include <cooperative_groups.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ alignas(16) float s[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    auto block = cooperative_groups::this_thread_block();
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(block, s, in + blockIdx.x * 128, cuda::aligned_size_t<16>(sizeof(s)), bar);
    bar.arrive_and_wait();
    float v = s[127 - t];
    auto token = bar.arrive();
    v *= 2;
    bar.wait(static_cast<barrier::arrival_token &&>(token));
    s[t] = v;
    bar.arrive_and_wait();
    out[blockIdx.x * 128 + t] = s[t ^ 1];
}
