__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    float *w;
    cudaMallocAsync(&w, 256, stream);
    cudaFreeAsync(w, stream);
    k<<<1, 1, 0, stream>>>(w);
}

// run:
// error 10:28 argument 1 of kernel k is workspace that is freed already
