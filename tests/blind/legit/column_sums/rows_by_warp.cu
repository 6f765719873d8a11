// A block takes 256 rows and 128 columns; each of eight warps adds rows in registers (four columns a lane), then warps are joined in shared memory and one atomic a column is sent by red.
#include <cstdint>

__global__ void __launch_bounds__(256) column_sums_kernel(float *__restrict__ sums, const float *__restrict__ x, int rows, int d, int rows_each)
{
    __shared__ float s[8][128];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, base = blockIdx.y * 128;
    const int64_t first = (int64_t)blockIdx.x * rows_each, last = first + rows_each < rows ? first + rows_each : rows;
    float a[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (d % 4 == 0) {
        const int c = base + lane * 4;
        if (c < d)
            for (int64_t r = first + warp; r < last; r += 8) {
                const float4 v = __ldcs(reinterpret_cast<const float4 *>(x + r * d + c));
                a[0] += v.x;
                a[1] += v.y;
                a[2] += v.z;
                a[3] += v.w;
            }
#pragma unroll
        for (int j = 0; j < 4; j++)
            s[warp][lane * 4 + j] = a[j];
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int c = base + lane + 32 * j;
            if (c < d)
                for (int64_t r = first + warp; r < last; r += 8)
                    a[j] += x[r * d + c];
            s[warp][lane + 32 * j] = a[j];
        }
    }
    __syncthreads();
    if (threadIdx.x < 128 && base + (int)threadIdx.x < d) {
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < 8; w++)
            sum += s[w][threadIdx.x];
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sums + base + threadIdx.x), "f"(sum) : "memory");
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    const int each = rows > 16384 ? 256 : 32;
    column_sums_kernel<<<dim3((unsigned)(((int64_t)rows + each - 1) / each), (d + 127) / 128), 256, 0, stream>>>(sums, x, rows, d, each);
}
