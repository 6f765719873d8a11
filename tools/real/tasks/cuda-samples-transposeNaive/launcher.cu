extern "C" void transpose(float *out, float *in, int width, int height, cudaStream_t stream)
{
    transposeNaive<<<dim3(width / TILE_DIM, height / TILE_DIM), dim3(TILE_DIM, BLOCK_ROWS), 0, stream>>>(out, in, width, height);
}
