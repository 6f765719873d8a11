// Every thread writes and fences, then one of them takes the ticket; the whole last block reads.
// buffer: out f32 128 out
// buffer: partial f32 1024 scratch
// buffer: ticket u32 1 inout zeros
// launch: kernel grid 8 block 128 args out partial ticket
extern "C" __global__ void kernel(float *out, float *partial, unsigned *ticket)
{
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 128 + t] = (float)(blockIdx.x + t);
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    float sum = 0.0f;
    for (int k = 0; k < gridDim.x; k++)
        sum += partial[k * 128 + t];
    out[t] = sum;
}
