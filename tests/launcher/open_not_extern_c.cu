void go(float *p, cudaStream_t stream)
{
}

// open-error 1:6 go must be declared extern "C"
