// How long products of a warpgroup take: `wgmma OUT.csv` writes group,name,parameter,value,unit as micro does. One block an
// SM, of one to four warpgroups; each has wgmma.m64n128k16 of f16 with sums in f32 issued in groups of eight onto the same
// registers, operands in shared memory, and waits for each group. The value is the SM's clocks for one product, of all
// warpgroups together: 64 by the data sheet (m64n128k16 is 131072 products, an SM takes 2048 a clock).
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int TURNS = 512, GROUP = 8;

__device__ static uint64_t descriptor(const void *p)
{
    uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62; // 128 byte swizzle
}

#define R8(x) "%" #x "0, %" #x "1, %" #x "2, %" #x "3, %" #x "4, %" #x "5, %" #x "6, %" #x "7, %" #x "8, %" #x "9"
__global__ void products(long long *cycles, float *out)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    float c[64];
    for (int i = 0; i < 64; i++)
        c[i] = 0;
    for (int i = threadIdx.x; i < (128 + 256) * 128 / 4; i += blockDim.x)
        ((uint32_t *)shared)[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t a = descriptor(shared + (threadIdx.x / 128 % 2) * 64 * 128), b = descriptor(shared + 128 * 128);
    long long begin = clock64();
    for (int t = 0; t < TURNS; t++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " R8(1) ", " R8(2) ", " R8(3) ", " R8(4) ", " R8(5) ", "
                         "%60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                           "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),
                           "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),
                           "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),
                           "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
                           "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                           "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]),
                           "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),
                           "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                         : "l"(a), "l"(b));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    __syncthreads();
    long long end = clock64();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = end - begin;
    for (int i = 0; i < 64; i++)
        if (c[i] != 0)
            out[threadIdx.x] = c[i];
}

int main(int argc, char **argv)
{
    long long *cycles, all = 0;
    float *out;
    FILE *csv = argc > 1 ? fopen(argv[1], "w") : stdout;
    const int bytes = (128 + 256) * 128;
    if (!csv || cudaMallocManaged(&cycles, 1024 * sizeof(*cycles)) || cudaMalloc(&out, 4096) ||
        cudaFuncSetAttribute(products, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
        fprintf(stderr, "wgmma: no GPU, or no room for the figures\n");
        return 1;
    }
    fprintf(csv, "group,name,parameter,value,unit\n");
    for (int groups = 1; groups <= 4; groups *= 2)
        for (int again = 0; again < 3; again++) {
            products<<<132, 128 * groups, bytes>>>(cycles, out);
            if (cudaDeviceSynchronize() != cudaSuccess) {
                fprintf(stderr, "wgmma: %s\n", cudaGetErrorString(cudaGetLastError()));
                return 1;
            }
            all = cycles[0];
            fprintf(csv, "wgmma,m64n128k16_f16,%d warpgroups,%.2f,cycles\n", groups, (double)all / (TURNS * GROUP * groups));
        }
    return 0;
}
