__global__ void pad_rows_kernel(float *out, const float *in, int v, int p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (i < p)
        out[(size_t)row * p + i] = i < v ? in[(size_t)row * v + i] : 0.0f;
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    pad_rows_kernel<<<dim3((p + 127) / 128, rows), 128, 0, stream>>>(out, in, v, p);
}
