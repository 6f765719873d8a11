// class: bug; wrong because: a block that goes on to another tile takes the three numbers in front of it from its tile before, which is not the neighbour where the grid is smaller than the tiles of all channels (channels = 4, time = 1048576: 4096 tiles, 2112 blocks)
#include <cstdint>

constexpr int T = 256, TILE = 1024, MOST = 2112;

__global__ void __launch_bounds__(T) causal_conv_kernel(float *__restrict__ y, const float *__restrict__ x,
                                                        const float *__restrict__ filter, int time, int tiles, int64_t all) {
  __shared__ float s[TILE + 4];
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    int64_t c = at / tiles;
    int first = (int)(at % tiles) * TILE;
    const float *row = x + c * time;
    float halo = 0.f;
    if (threadIdx.x < 3) {
      if (first == 0) halo = 0.f;
      else if (at == blockIdx.x) halo = row[first - 3 + threadIdx.x];
      else halo = s[TILE + threadIdx.x];  // the end of the tile before
    }
    __syncthreads();
    if (threadIdx.x < 3) s[threadIdx.x] = halo;
#pragma unroll
    for (int k = 0; k < TILE / T; k++) {
      int i = k * T + threadIdx.x;
      s[3 + i] = first + i < time ? row[first + i] : 0.f;
    }
    float f0 = filter[c * 4], f1 = filter[c * 4 + 1], f2 = filter[c * 4 + 2], f3 = filter[c * 4 + 3];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE / T; k++) {
      int i = k * T + threadIdx.x;
      if (first + i < time) y[c * time + first + i] = f0 * s[i] + f1 * s[i + 1] + f2 * s[i + 2] + f3 * s[i + 3];
    }
    __syncthreads();
  }
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream) {
  int tiles = (time + TILE - 1) / TILE;
  int64_t all = (int64_t)channels * tiles;
  causal_conv_kernel<<<(unsigned)(all < MOST ? all : MOST), T, 0, stream>>>(y, x, filter, time, tiles, all);
}
