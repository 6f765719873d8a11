__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    float *w;
    cudaMalloc(&w, 256);
    k<<<1, 1, 0, stream>>>(w);
}

// run:
// error 5:17 workspace 1 of go is not freed
