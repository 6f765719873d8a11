// A second warp of one thread.
// buffer: out f32 66 out
// buffer: in f32 66 in
// launch: kernel grid 2 block 33 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float s[33];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 33 + t];
    __syncthreads();
    float v = __shfl_sync(__activemask(), s[32 - t], 0);
    __syncwarp();
    out[blockIdx.x * 33 + t] = s[32 - t] + v;
}
