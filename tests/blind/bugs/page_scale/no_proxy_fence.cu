// wrong because: Pages go through shared memory with bulk copies; between the threads' stores to the page and the bulk copy out (async proxy) there is a barrier but no fence.proxy.async: old data may leave. Wrong for every n, by chance.
#include <cstdint>

__device__ __forceinline__ unsigned shared_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void __launch_bounds__(256) scale_kernel(float *out, const float *in, int n)
{
    __shared__ __align__(128) float page[4096];
    __shared__ __align__(8) uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const int64_t at = (int64_t)blockIdx.x * 4096;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_of(&full)), "r"(16384) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(page)), "l"(in + at), "r"(16384), "r"(shared_of(&full)) : "memory");
    }
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(shared_of(&full)) : "memory");
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float4 v = reinterpret_cast<float4 *>(page)[threadIdx.x + j * 256];
        v.x *= 2.0f; v.y *= 2.0f; v.z *= 2.0f; v.w *= 2.0f;
        reinterpret_cast<float4 *>(page)[threadIdx.x + j * 256] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + at), "r"(shared_of(page)), "r"(16384) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<n / 4096, 256, 0, stream>>>(out, in, n);
}
