// The exact answer in double: a transpose only moves values.
__global__ void transpose_kernel(double *out, const double *in, int rows, int cols)
{
    long long col = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long row = blockIdx.y;
    if (col < cols)
        out[col * rows + row] = in[row * cols + col];
}

extern "C" void transpose(double *out, const double *in, int rows, int cols, cudaStream_t stream)
{
    dim3 grid((cols + 127) / 128, rows);
    transpose_kernel<<<grid, 128, 0, stream>>>(out, in, rows, cols);
}
