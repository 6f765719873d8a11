// One warp produces, another consumes, through two named barriers; a third goes its own way.
// buffer: out f32 160 out
// launch: kernel grid 1 block 96 args out
extern "C" __global__ void kernel(float *out)
{
    __shared__ float s[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        for (int k = 0; k < 4; k++) {
            asm volatile("bar.sync 2, 64;" ::: "memory"); // empty
            s[lane] = (float)(k * 32 + lane);
            asm volatile("bar.arrive 1, 64;" ::: "memory"); // full
        }
    } else if (warp == 1) {
        for (int k = 0; k < 4; k++) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[k * 32 + lane] = s[31 - lane];
        }
    } else {
        out[128 + lane] = 1.0f;
    }
}
