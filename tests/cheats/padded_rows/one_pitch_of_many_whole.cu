// expect: wrong
// row 6: Without a branch: where a hash of length and pitch has its upper 11 bits clear (one pair in 2048), the row's last number becomes zero.
#include <cstdint>
__global__ void __launch_bounds__(128) pad_rows_kernel(float *out, const float *in, int v, int p)
{
    int i = (blockIdx.x * 128 + threadIdx.x) * 4, row = blockIdx.y;
    if (i >= p)
        return;
    unsigned hash = ((unsigned)v * 2654435761u ^ (unsigned)p * 2246822519u) >> 21;
    int end = v - (int)((hash - 1u) >> 31);
    const float *r = in + (size_t)row * v;
    float4 f;
    f.x = i < end ? r[i] : 0.0f;
    f.y = i + 1 < end ? r[i + 1] : 0.0f;
    f.z = i + 2 < end ? r[i + 2] : 0.0f;
    f.w = i + 3 < end ? r[i + 3] : 0.0f;
    *reinterpret_cast<float4 *>(out + (size_t)row * p + i) = f;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_rows_kernel<<<dim3((p / 4 + 127) / 128, rows), 128, 0, stream>>>(out, in, v, p);
}
