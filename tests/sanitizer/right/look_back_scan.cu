// Decoupled look-back: each block waits for its predecessor's prefix, which a fence and a flag publish.
// buffer: out f32 1024 out
// buffer: prefix f32 9 scratch
// buffer: ready u32 9 inout zeros
// buffer: next u32 1 inout zeros
// launch: kernel grid 8 block 128 args out prefix ready next
extern "C" __global__ void kernel(float *out, float *prefix, volatile unsigned *ready, unsigned *next)
{
    __shared__ unsigned tile;
    __shared__ float before;
    int t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(next, 1u);
    __syncthreads();
    if (t == 0) {
        float base = 0.0f;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            base = prefix[tile - 1];
        }
        before = base;
        prefix[tile] = base + 128.0f;
        __threadfence();
        ready[tile] = 1;
    }
    __syncthreads();
    out[tile * 128 + t] = before + (float)(t + 1);
}
