// Both kinds in one kernel, the dynamic part cut into two arrays.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 shared 512 args out in
extern __shared__ float dynamic[];

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float fixed[64];
    float *first = dynamic, *second = dynamic + 64;
    int t = threadIdx.x;
    fixed[t] = in[t];
    first[t] = in[t] * 2.0f;
    second[t] = in[t] * 3.0f;
    __syncthreads();
    out[t] = fixed[63 - t] + first[(t + 1) % 64] + second[(t + 2) % 64];
}
