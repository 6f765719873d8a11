// class: bug; wrong because: indices are unsigned 32-bit numbers, and rows * p passes 2^32 in the last corner of the domain only (rows = 65535, v = 65536, p = 65540: the last rows land on the first)
__global__ void __launch_bounds__(256) pad_rows_kernel(float *__restrict__ out, const float *__restrict__ in, int v, int p) {
  unsigned i = (blockIdx.x * 256 + threadIdx.x) * 4, row = blockIdx.y;
  if (i >= (unsigned)p) return;
  unsigned from = row * (unsigned)v + i, to = row * (unsigned)p + i;
  float4 r;
  r.x = i < v ? in[from] : 0.f;
  r.y = i + 1 < v ? in[from + 1] : 0.f;
  r.z = i + 2 < v ? in[from + 2] : 0.f;
  r.w = i + 3 < v ? in[from + 3] : 0.f;
  *(float4 *)(out + to) = r;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream) {
  pad_rows_kernel<<<dim3((p / 4 + 255) / 256, rows), 256, 0, stream>>>(out, in, v, p);
}
