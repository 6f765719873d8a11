extern "C" void go(float *p, at_tensor t, cudaStream_t stream)
{
}

// open-error 1:30 the type at_tensor is not understood; allowed are
