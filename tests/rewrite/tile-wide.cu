// Vectors through larger squares, for sizes that are whole vectors; what is added is the same for all of them.
// transform: tile 416
// applies: line 22
// has: packed<float, 4> from_v[4];
// has: const int c = blockIdx.x * 64 + threadIdx.x * 4;
// has: const int r = blockIdx.y * 64 + threadIdx.y + k;
// has: from_v[k / 16] = packed_load<4>(&from[(r + blockIdx.z * height) * width + c]);
// has: tile[threadIdx.y + k][threadIdx.x * 4 + e] = scale * from_v[k / 16].at[e] + bias[r];
// has: out_v.at[e] = tile[threadIdx.x * 4 + e][threadIdx.y + k];
// has: packed_store(&to[(c + blockIdx.z * width) * height + r], out_v);
// has: tile[threadIdx.y + k][threadIdx.x] = scale * from[(r + blockIdx.z * height) * width + c] + bias[r];
// has: if (n % 4 == 0 && (uintptr_t)in % 16 == 0 && m % 4 == 0 && (uintptr_t)out % 16 == 0 &&
// has: turn_wide<<<dim3((n + 63) / 64, (m + 63) / 64, b), dim3(16, 16), 0, stream>>>(out, in,
#include <cuda_runtime.h>

__global__ void turn(float *to, const float *from, const float *bias, float scale, int height, int width)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= height || c >= width)
        return;
    to[(c + blockIdx.z * width) * height + r] = scale * from[(r + blockIdx.z * height) * width + c] + bias[r];
}

extern "C" void entry(float *out, const float *in, const float *bias, int m, int n, int b, cudaStream_t stream)
{
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8, b);
    turn<<<grid, block, 0, stream>>>(out, in, bias, 2.0f, m, n);
}
