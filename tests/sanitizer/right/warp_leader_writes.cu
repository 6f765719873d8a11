// Lane 0 writes for the warp, __syncwarp, all lanes read; then the next round.
// buffer: out i32 256 out
// launch: kernel grid 1 block 64 args out
extern "C" __global__ void kernel(int *out)
{
    __shared__ int s[2];
    int t = threadIdx.x, warp = t / 32;
    for (int k = 0; k < 4; k++) {
        if (t % 32 == 0)
            s[warp] = k + warp;
        __syncwarp();
        out[k * 64 + t] = s[warp];
        __syncwarp();
    }
}
