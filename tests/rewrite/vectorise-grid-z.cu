// A plane that blocks along grid.z share is a loop over lanes.
// transform: vectorise 16
// applies: line 9
// has: offset += gridDim.z * blockDim.x * 4
// has: space % 4 == 0
#include <cuda_runtime.h>
__global__ void scale(float *out, const float *in, const float *by, int space) {
  const float s = by[blockIdx.x];
  for (int offset = threadIdx.x + blockIdx.z * blockDim.x; offset < space; offset += gridDim.z * blockDim.x) {
    out[blockIdx.x * space + offset] = s * in[blockIdx.x * space + offset];
  }
}

extern "C" void entry(float *out, const float *in, const float *by, int planes, int space, cudaStream_t stream) {
  scale<<<dim3(planes, 1, 8), 128, 0, stream>>>(out, in, by, space);
}
