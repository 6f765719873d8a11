#if 1
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 1:2 this #if is not closed
