// What meets in shared memory, beside shares.cu: sums of floats by warps that share their words or do not.
// `meets OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"

static __device__ unsigned any(unsigned &seed)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 16;
}

// ---- sums of floats in shared memory ----

// `sharers` warps share `words` words; with 0 each lane has a word of its own there.
__global__ void sums(int sharers, int words, float by, long long *cycles)
{
    extern __shared__ float heap[];
    for (int k = threadIdx.x; k < 8192; k += blockDim.x)
        heap[k] = 0;
    __syncthreads();
    int warp = threadIdx.x / 32;
    float *own = heap + warp / sharers * (words ? words : 32);
    unsigned at = threadIdx.x % 32, seed = threadIdx.x * 2654435761u + 1;
    long long start = ticks();
    for (int i = 0; i < 256; i++) {
        if (words)
            at = any(seed) & (words - 1);
        atomicAdd(&own[at], by);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = (long long)heap[at];
}

static void put_sums()
{
    CUDA(cudaFuncSetAttribute(sums, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    for (int words : {0, 64, 256, 1024})
        for (int warps : {1, 2, 4, 8, 16, 32})
            for (int sharers : {1, 2, 4, 32}) {
                if (sharers > warps)
                    continue;
                if (warps / sharers * (words ? words : 32) > 8192)
                    continue;
                std::string where = (words ? "any of " + std::to_string(words) : "a word a lane") + "; " + std::to_string(warps) +
                                    " warps; " + std::to_string(sharers) + " share";
                put("sums", "f32", where,
                    cycles_of([&] { sums<<<1, 32 * warps, 32768, gpu_clock.stream>>>(sharers, words, 3, device_cycles); }) / 256,
                    "cycles");
            }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "meets", put_sums);
}
