// The second loop keeps the exponentials in memory: it cannot go.
// transform: online-softmax -1
// leaves
#include <cuda_runtime.h>
__global__ void softmax(float* out, const float* in, int d) {
  __shared__ float shared[32];
  float top = -1e30f, sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += 32) top = fmaxf(top, in[i]);
  shared[threadIdx.x] = top;
  __syncthreads();
  for (int k = 0; k < 32; k++) top = fmaxf(top, shared[k]);
  for (int i = threadIdx.x; i < d; i += 32) {
    out[i] = expf(in[i] - top);
    sum += expf(in[i] - top);
  }
  out[d + threadIdx.x] = sum;
}

extern "C" void entry(float* out, const float* in, int d, cudaStream_t stream) {
  softmax<<<1, 32, 0, stream>>>(out, in, d);
}
