// What block and grid heuristics look like: powers of two, SM counts, waves, limits.
__global__ void k(float *p, int items)
{
}

static int next_pow2(int n)
{
    n--;
    for (int s = 1; s < 32; s <<= 1)
        n |= n >> s;
    return n + 1;
}
inline unsigned int log2_floor(unsigned int x)
{
    return 31 - __builtin_clz(x);
}

extern "C" void go(float *p, int rows, int d, cudaStream_t stream)
{
    int sms = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    int threads = next_pow2(d / 8);
    threads = threads < 32 ? 32 : threads > 1024 ? 1024 : threads;
    int per_sm = 2048 / threads;
    int blocks = rows < sms * per_sm ? rows : sms * per_sm;
    float waves = (float)rows / (sms * per_sm);
    if (waves > 1.5f)
        blocks = static_cast<int>(ceilf(rows / ceilf(waves)));
    k<<<blocks, threads, threads / 32 * sizeof(float), stream>>>(p, log2_floor(d));
}

// run: rows=100 d=4096
// launch k (100,1,1) (512,1,1) 64 [p, 12:i32]
// run: rows=1000 d=4096
// launch k (500,1,1) (512,1,1) 64 [p, 12:i32]
