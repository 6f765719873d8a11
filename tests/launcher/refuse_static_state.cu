__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    static const int threads = 64;
    static bool configured = false;
    if (!configured)
        configured = true;
    k<<<1, threads, 0, stream>>>(p);
}

// run:
// error 8:17 static configured keeps state between calls
