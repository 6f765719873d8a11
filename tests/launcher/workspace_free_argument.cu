extern "C" void go(float *p, cudaStream_t stream)
{
    cudaFreeAsync(p, stream);
}

// run:
// error 3:19 only the pointer that cudaMallocAsync gave is freed
