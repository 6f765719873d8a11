// class: right; right because: a bitonic network on the next power of two, filled up with the largest integer, which may stand behind equal ones; near partners by shuffles, far ones by shared memory
#include <climits>

__global__ void __launch_bounds__(1024) sort_kernel(int *__restrict__ out, const int *__restrict__ in, int n) {
  __shared__ int s[2][1024];
  const int t = threadIdx.x, size = blockDim.x;
  const long long row = (long long)blockIdx.x * n;
  int key = t < n ? in[row + t] : INT_MAX, turn = 0;
  for (int k = 2; k <= size; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other;
      if (j >= 32) {
        s[turn][t] = key;
        __syncthreads();
        other = s[turn][t ^ j];
        turn ^= 1;
      } else
        other = __shfl_xor_sync(0xffffffffu, key, j);
      bool up = (t & k) == 0, low = (t & j) == 0;
      key = up == low ? min(key, other) : max(key, other);
    }
  if (t < n) out[row + t] = key;
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream) {
  int size = 32;
  while (size < n) size *= 2;
  sort_kernel<<<rows, size, 0, stream>>>(out, in, n);
}
