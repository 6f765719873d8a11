// expect: wrong words rows=1 n=16777216
// row 22: A row is cut into at most 1024 chunks of 4096, elements from 4194304 on are left out (rows = 1, n = 4194308).
#include <cstdint>
constexpr int CHUNK = 4096, MOST = 1024;

__device__ float warp_sum(float x) {
  for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(0xffffffffu, x, s);
  return x;
}

__global__ void __launch_bounds__(256) part_kernel(float *part, const float *in, int n, int chunks) {
  __shared__ float w[8];
  const float *x = in + (int64_t)blockIdx.y * n;
  int first = blockIdx.x * CHUNK, last = min(first + CHUNK, n);
  float a = 0.f, b = 0.f;
  int i = first + threadIdx.x;
  for (; i + 256 < last; i += 512) {
    a += x[i];
    b += x[i + 256];
  }
  if (i < last) a += x[i];
  a = warp_sum(a + b);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = a;
  __syncthreads();
  if (threadIdx.x < 32) {
    a = warp_sum(threadIdx.x < 8 ? w[threadIdx.x] : 0.f);
    if (threadIdx.x == 0) part[(int64_t)blockIdx.y * chunks + blockIdx.x] = a;
  }
}

__global__ void finish_kernel(float *out, const float *part, int rows, int chunks) {
  int row = blockIdx.x * 8 + threadIdx.x / 32;
  if (row >= rows) return;
  float a = 0.f;
  for (int i = threadIdx.x % 32; i < chunks; i += 32) a += part[(int64_t)row * chunks + i];
  a = warp_sum(a);
  if (threadIdx.x % 32 == 0) out[row] = a;
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream) {
  int chunks = min((n + CHUNK - 1) / CHUNK, MOST);
  float *part;
  cudaMallocAsync((void **)&part, (size_t)rows * chunks * sizeof(float), stream);
  part_kernel<<<dim3(chunks, rows), 256, 0, stream>>>(part, in, n, chunks);
  finish_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, part, rows, chunks);
  cudaFreeAsync(part, stream);
}
