// wrong because: 65535 rows of v <= 65536 fit 32 bits, but those of the padded pitch do not: rows = 65535, v = 65536, p = 65540: rows * p = 2^32 + 196,604, the last rows are stored over the first.
// Four elements a thread: the pitch is a multiple of four.
__global__ void __launch_bounds__(128) pad_rows_kernel(float *__restrict__ out, const float *__restrict__ in, unsigned v, unsigned p)
{
    unsigned i = (blockIdx.x * 128 + threadIdx.x) * 4, row = blockIdx.y;
    if (i >= p)
        return;
    unsigned from = row * v + i, to = row * p + i;
    float4 x;
    x.x = i < v ? in[from] : 0.0f;
    x.y = i + 1 < v ? in[from + 1] : 0.0f;
    x.z = i + 2 < v ? in[from + 2] : 0.0f;
    x.w = i + 3 < v ? in[from + 3] : 0.0f;
    *(float4 *)(out + to) = x;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_rows_kernel<<<dim3((p / 4 + 127) / 128, rows), 128, 0, stream>>>(out, in, v, p);
}
