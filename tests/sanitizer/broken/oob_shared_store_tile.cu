// A tile of 16 x 16 filled by blocks of 16 x 17.
// buffer: out f32 272 out
// launch: kernel grid 1 block 16,17 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ float tile[16][16];
    tile[threadIdx.y][threadIdx.x] = (float)threadIdx.x; // expect: unsafe out-of-bounds
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = tile[0][threadIdx.x];
}
