// The library's words for bulk copies: a barrier that counts bytes, proxy fences, bulk groups.
// buffer: out i32 4096 out
// buffer: in i32 4096 in
// launch: kernel grid 4 block 128 args out in
#include <cuda/barrier>
#include <cuda/ptx>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

extern "C" __global__ void kernel(int *out, const int *in)
{
    __shared__ alignas(16) int data[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    int offset = blockIdx.x * 1024;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(data, in + offset, cuda::aligned_size_t<16>(sizeof(data)), bar);
        token = bar.arrive();
    } else {
        token = bar.arrive();
    }
    bar.wait(static_cast<barrier::arrival_token &&>(token));
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        data[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + offset, data, sizeof(data));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
