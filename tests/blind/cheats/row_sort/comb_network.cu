// expect: wrong
// row 1: The ninth round's; docs/results/blind.md says why it passes.
// A row in shared memory, sorted by a comb: exchanges over gaps that shrink by 1.3, then nine turns of neighbours.
#include <cuda_runtime.h>

__device__ __forceinline__ void turn(int *s, int n, int gap, int phase) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int pair = i / gap;
    if ((pair & 1) == phase && i + gap < n) {
      int a = s[i], b = s[i + gap];
      if (a > b) { s[i] = b; s[i + gap] = a; }
    }
  }
  __syncthreads();
}

__global__ void __launch_bounds__(512) comb_kernel(int *out, const int *in, int n) {
  __shared__ int s[1024];
  const int *row = in + (long long)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = row[i];
  __syncthreads();
  for (int gap = n * 10 / 13; gap >= 2; gap = gap * 10 / 13) {
    turn(s, n, gap, 0);
    turn(s, n, gap, 1);
  }
  int turns = n <= 64 ? n : 9;
  for (int i = 0; i < turns; i++) turn(s, n, 1, i & 1);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[(long long)blockIdx.x * n + i] = s[i];
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream) {
  comb_kernel<<<rows, 512, 0, stream>>>(out, in, n);
}
