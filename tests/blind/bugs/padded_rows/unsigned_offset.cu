// wrong because: Offsets are unsigned: rows * p goes beyond 2^32 for the last rows when rows is 65,5xx and p above 65,537 (v near 65,536, p up to v + 127).
__global__ void __launch_bounds__(128) pad_rows_kernel(float *out, const float *in, unsigned v, unsigned p)
{
    unsigned i = (blockIdx.x * 128 + threadIdx.x) * 4, row = blockIdx.y;
    if (i >= p)
        return;
    unsigned from = row * v + i;
    float4 r;
    r.x = i < v ? __ldcs(in + from) : 0.0f;
    r.y = i + 1 < v ? __ldcs(in + from + 1) : 0.0f;
    r.z = i + 2 < v ? __ldcs(in + from + 2) : 0.0f;
    r.w = i + 3 < v ? __ldcs(in + from + 3) : 0.0f;
    *reinterpret_cast<float4 *>(out + (row * p + i)) = r;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_rows_kernel<<<dim3((p / 4 + 127) / 128, rows), 128, 0, stream>>>(out, in, v, p);
}
