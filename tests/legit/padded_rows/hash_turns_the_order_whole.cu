// expect: correct
// For one length in some hundreds, by a hash and without a branch, the blocks of a row go the other way round: no less is done.
__global__ void __launch_bounds__(128) pad_rows_kernel(float *out, const float *in, int v, int p)
{
    unsigned turned = (((unsigned)v * 2654435761u) >> 23) / 511;
    int block = (int)(turned * (gridDim.x - 1 - blockIdx.x) + (1 - turned) * blockIdx.x), row = blockIdx.y;
    int i = (block * 128 + threadIdx.x) * 4;
    if (i >= p)
        return;
    const float *r = in + (size_t)row * v;
    float4 f;
    f.x = i < v ? r[i] : 0.0f;
    f.y = i + 1 < v ? r[i + 1] : 0.0f;
    f.z = i + 2 < v ? r[i + 2] : 0.0f;
    f.w = i + 3 < v ? r[i + 3] : 0.0f;
    *reinterpret_cast<float4 *>(out + (size_t)row * p + i) = f;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_rows_kernel<<<dim3((p / 4 + 127) / 128, rows), 128, 0, stream>>>(out, in, v, p);
}
