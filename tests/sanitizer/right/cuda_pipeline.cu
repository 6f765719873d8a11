// The library's pipeline: two stages of asynchronous copies, shared by the block.
// buffer: out f32 1024 out
// buffer: in f32 4096 in
// launch: kernel grid 4 block 128 args out in 8
#include <cooperative_groups.h>
#include <cuda/pipeline>

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ alignas(16) float s[2][128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const float *from = in + blockIdx.x * 128 * n;
    float sum = 0;
    for (int k = 0, fetched = 0; k < n; k++) {
        for (; fetched < n && fetched < k + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetched % 2], from + fetched * 128, sizeof(s[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[k % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
    for (int k = 0; k < 2; k++)
        out[blockIdx.x * 256 + k * 128 + threadIdx.x] = sum * (k + 1);
}
