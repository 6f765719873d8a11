// The same shared memory holds floats, and after a barrier bytes.
// buffer: out u8 128 out
// buffer: in f32 128 in
// launch: kernel grid 1 block 128 args out in
extern "C" __global__ void kernel(unsigned char *out, const float *in)
{
    __shared__ __align__(16) unsigned char raw[512];
    int t = threadIdx.x;
    ((float *)raw)[t] = in[t];
    __syncthreads();
    float v = ((float *)raw)[127 - t];
    __syncthreads();
    raw[t] = (unsigned char)(v > 0.0f ? 1 : 2);
    __syncthreads();
    out[t] = raw[t ^ 1];
}
