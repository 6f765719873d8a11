// Right: no shared memory: a warp loads a 32 x 32 tile in registers, a row a step, and transposes it by five rounds of butterfly exchanges; missing rows and columns hold 0 and are not stored. All lanes take part in every shuffle.
#include <cstdint>
__global__ __launch_bounds__(128) void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int64_t across = ((int64_t)cols + 31) / 32, tiles = across * ((rows + 31) / 32);
    for (int64_t t = (int64_t)blockIdx.x * 4 + threadIdx.x / 32; t < tiles; t += (int64_t)gridDim.x * 4) {
        int64_t r0 = t / across * 32, c0 = t % across * 32;
        float v[32];
#pragma unroll
        for (int y = 0; y < 32; y++)
            v[y] = r0 + y < rows && c0 + lane < cols ? in[(r0 + y) * cols + c0 + lane] : 0.0f;
#pragma unroll
        for (int o = 16; o; o /= 2) {
            bool upper = lane & o;
#pragma unroll
            for (int y = 0; y < 32; y++)
                if (!(y & o)) {
                    float give = upper ? v[y] : v[y + o];
                    float got = __shfl_xor_sync(~0u, give, o);
                    if (upper)
                        v[y] = got;
                    else
                        v[y + o] = got;
                }
        }
        // v[y] of a lane is now the element of row r0 + lane and column c0 + y
#pragma unroll
        for (int y = 0; y < 32; y++)
            if (c0 + y < cols && r0 + lane < rows)
                out[(c0 + y) * rows + r0 + lane] = v[y];
    }
}
extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int64_t tiles = ((int64_t)cols + 31) / 32 * ((rows + 31) / 32), wanted = (tiles + 3) / 4;
    transpose_kernel<<<(unsigned)(wanted < 65536 ? wanted : 65536), 128, 0, stream>>>(out, in, rows, cols);
}
