extern "C" void convolution_rows(float *out, float *in, int width, int height, cudaStream_t stream)
{
    const float taps[KERNEL_LENGTH] = {0.0001f, 0.0004f, 0.0022f, 0.0088f, 0.0270f, 0.0648f, 0.1210f, 0.1761f, 0.1995f, 0.1761f, 0.1210f, 0.0648f, 0.0270f, 0.0088f, 0.0022f, 0.0004f, 0.0001f};
    cudaMemcpyToSymbolAsync(c_Kernel, taps, sizeof(taps), 0, cudaMemcpyHostToDevice, stream);
    const dim3 grid(width / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), height / ROWS_BLOCKDIM_Y);
    convolutionRowsKernel<<<grid, dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y), 0, stream>>>(out, in, width, height, width);
}
