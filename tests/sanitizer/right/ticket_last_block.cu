// Partial sums, a fence, a ticket: the last block sums them up and puts the ticket back.
// buffer: out f32 1 out
// buffer: partial f32 8 scratch
// buffer: ticket u32 1 inout zeros
// buffer: in f32 1024 in
// launch: kernel grid 8 block 128 args out partial ticket in
extern "C" __global__ void kernel(float *out, float *partial, unsigned *ticket, const float *in)
{
    __shared__ float s[128];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        float sum = 0.0f;
        for (int k = 0; k < gridDim.x; k++)
            sum += partial[k];
        out[0] = sum;
        *ticket = 0;
    }
}
