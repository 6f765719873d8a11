// class: shortcut; wrong because: the table of answers of the last launch is kept, and used again where m and 33 samples of the bounds are as they were (m = 512: launch, change bounds[1], launch again)
#include <cstdint>

__device__ int table[2048];
__device__ int mark[34];

__global__ void __launch_bounds__(1024) build_kernel(const int *bounds, int m) {
  int t = threadIdx.x, same = 1;
  int sample = 0;
  if (t < 33) {
    sample = bounds[(int)((long long)t * (m - 1) / 32)];
    same = mark[t] == sample;
  }
  if (t == 33) {
    sample = m;
    same = mark[33] == m;
  }
  if (__syncthreads_and(same)) return;
  if (t < 34) mark[t] = sample;
  for (int v = t; v < 2000; v += 1024) {
    int low = 0, high = m;
    while (low < high) {
      int middle = (low + high) / 2;
      if (bounds[middle] < v - 1000) low = middle + 1;
      else high = middle;
    }
    table[v] = low;
  }
}

__global__ void __launch_bounds__(256) look_kernel(int *out, const int *values, int n) {
  int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i + 3 < n) {
    int4 v = *(const int4 *)(values + i);
    *(int4 *)(out + i) = make_int4(table[v.x + 1000], table[v.y + 1000], table[v.z + 1000], table[v.w + 1000]);
  } else
    for (; i < n; i++) out[i] = table[values[i] + 1000];
}

extern "C" void bucketize(int *out, const int *values, const int *bounds, int n, int m, cudaStream_t stream) {
  build_kernel<<<1, 1024, 0, stream>>>(bounds, m);
  look_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(out, values, n);
}
