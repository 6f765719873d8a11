// Thread 0 takes the sum away for the next row while others have not read it yet.
// buffer: out f32 256 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 128 args out in
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ float scale;
    int t = threadIdx.x;
#pragma unroll 1
    for (int row = 0; row < 2; row++) {
        if (t == 0)
            scale = in[row * 128]; // expect: unsafe race-shared
        __syncthreads();
        out[row * 128 + t] = in[row * 128 + t] * scale; // expect: unsafe race-shared
    }
}
