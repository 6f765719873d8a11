// class: round 14 ; wrong because: it lets as many groups stay in flight as there are stages: the part at hand need not have come.
#include <cstdint>

constexpr int PAGE = 1024, STAGES = 4; // floats of a part: 256 threads, four each

__device__ __forceinline__ void fetch(float *to, const float *from)
{
    unsigned d = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(d), "l"(from) : "memory");
}

// Each thread fetches what its neighbour doubles: warps need the barriers.
__global__ __launch_bounds__(256) void scale_ring(float *__restrict__ out, const float *__restrict__ in, int parts)
{
    __shared__ __align__(16) float ring[STAGES][PAGE];
    int t = threadIdx.x, other = (t + 32) % 256, turns = (parts - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    auto load = [&](int turn) {
        if (turn < turns)
            fetch(&ring[turn % STAGES][4 * t], in + ((int64_t)blockIdx.x + (int64_t)turn * gridDim.x) * PAGE + 4 * t);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int s = 0; s < STAGES - 1; s++)
        load(s);
    for (int turn = 0; turn < turns; turn++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        __syncthreads();
        load(turn + STAGES - 1);
        float4 a = *reinterpret_cast<const float4 *>(&ring[turn % STAGES][4 * other]);
        a.x *= 2.f, a.y *= 2.f, a.z *= 2.f, a.w *= 2.f;
        *reinterpret_cast<float4 *>(out + ((int64_t)blockIdx.x + (int64_t)turn * gridDim.x) * PAGE + 4 * other) = a;
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    int device = 0, units = 0, parts = n / PAGE;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    int blocks = units * 4;
    scale_ring<<<parts < blocks ? parts : blocks, 256, 0, stream>>>(out, in, parts);
}
