// for, while, do, break, continue; a block size found by doubling; several launches from a loop.
__global__ void k(float *p, int step, int block)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int block = 32;
    while (block < n && block < 1024)
        block *= 2;
    int left = n, log = 0;
    do {
        left >>= 1;
        ++log;
    } while (left);
    for (int i = 0, j = 10;; i++, j--) {
        if (i == 1)
            continue;
        if (i > j - 5)
            break;
        k<<<i + 1, block, 0, stream>>>(p + i, log, j);
    }
}

// run: n=100
// launch k (1,1,1) (128,1,1) 0 [p, 7:i32, 10:i32]
// launch k (3,1,1) (128,1,1) 0 [p+8, 7:i32, 8:i32]
