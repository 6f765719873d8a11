// Three-dimensional grid and block.
// buffer: out i32 1440 out
// launch: kernel grid 2,3,4 block 3,4,5 args out
extern "C" __global__ void kernel(int *out)
{
    __shared__ int s[60];
    int t = threadIdx.x + 3 * (threadIdx.y + 4 * threadIdx.z);
    int b = blockIdx.x + 2 * (blockIdx.y + 3 * blockIdx.z);
    s[t] = b;
    __syncthreads();
    out[b * 60 + t] = s[59 - t];
}
