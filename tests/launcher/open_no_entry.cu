extern "C" void other(float *p, cudaStream_t stream)
{
}

// open-error 1:1 no function extern "C" void go(..., cudaStream_t stream) is defined (there is: other)
