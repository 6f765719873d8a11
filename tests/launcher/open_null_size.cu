// 8 bytes for g++ and nvcc, 4 for NVRTC.
__global__ void k(int *p)
{
    p[0] = sizeof(NULL);
}

extern "C" void go(int *p, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(p);
}

// open-error 4:19 the type of NULL
